import { css, html, type TemplateResult } from 'lit';

/** Six steps from punctual to late, the same wherever lateness has a colour. */
export interface Scale {
  readonly title: string;
  /** Where each step but the first begins. */
  readonly limits: readonly number[];
  readonly text: (limit: number) => string;
}

/** Mean delays, in minutes. */
export const DELAY: Scale = {
  title: 'mean delay, min',
  limits: [5, 10, 15, 20, 30],
  text: (limit) => String(limit),
};

/** Shares of flights. */
export const LATE: Scale = {
  title: 'late or cancelled',
  limits: [0.1, 0.2, 0.3, 0.4, 0.5],
  text: (limit) => `${100 * limit}%`,
};

/** The colours of a value as an inline style; of none, those of the panel. */
export function paint({ limits }: Scale, value: number | null): string {
  if (value === null) return '';
  const step = limits.filter((limit) => value >= limit).length;
  return `background:var(--heat-${step});color:var(--heat-${step}-ink)`;
}

/** The colour alone. */
export function colourOf({ limits }: Scale, value: number | null): string {
  if (value === null) return 'var(--sunk)';
  return `var(--heat-${limits.filter((limit) => value >= limit).length})`;
}

/** What stands beneath a picture: its scale, and what is pointed at, in words; of nothing, how to point. */
export function legend(scale: Scale, words: string | null, how: string): TemplateResult {
  return html`
    <div class="legend">${key(scale)}<span class="read ${words === null ? 'soft' : ''}">${words ?? how}</span></div>
  `;
}

/** The scale with its limits, to be read once. */
function key({ title, limits, text }: Scale): TemplateResult {
  return html`
    <p class="heat-key" aria-hidden="true">
      <span>${title}</span>
      <span class="steps">
        ${[...limits, null].map(
          (limit, step) =>
            html`<i style="background:var(--heat-${step})"></i>${limit === null ? '' : html`<b>${text(limit)}</b>`}`,
        )}
      </span>
    </p>
  `;
}

export const legends = css`
  .legend {
    display: flex;
    flex-direction: column;
    gap: 4px;
    margin-top: 8px;
    font-size: 13px;
  }
  .read {
    min-height: 1.4em;
    overflow: hidden;
    text-overflow: ellipsis;
    white-space: nowrap;
  }
  .heat-key {
    display: flex;
    flex-wrap: wrap;
    align-items: center;
    gap: 4px 10px;
    color: var(--soft);
    font-size: 12px;
    font-variant-numeric: tabular-nums;
  }
  .heat-key .steps {
    display: flex;
    align-items: center;
  }
  .heat-key i {
    width: 20px;
    height: 10px;
  }
  .heat-key b {
    margin: 0 3px;
    font-weight: 500;
  }
  .heat-key i:first-child {
    border-radius: 5px 0 0 5px;
  }
  .heat-key i:last-child {
    border-radius: 0 5px 5px 0;
  }
`;
