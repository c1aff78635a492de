import { css, html, type TemplateResult } from 'lit';

/** A number with a bar before it: `part` of its full length, from 0 to 1. */
export function barred(part: number, text: string): TemplateResult {
  return html`<i class="bar" style="--part:${(100 * Math.max(0, part)).toFixed(1)}%"></i><span class="barred">${text}</span>`;
}

export const bars = css`
  .bar {
    display: inline-block;
    width: 38px;
    height: 8px;
    margin-inline-end: 6px;
    border-radius: 4px;
    background: linear-gradient(var(--bar, var(--curve)) 0 0) 0 / var(--part) no-repeat var(--sunk);
  }
  .barred {
    display: inline-block;
    min-width: 2.7em;
  }
`;
