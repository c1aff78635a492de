import { css, type SVGTemplateResult, svg } from 'lit';
import type { Kind } from '../asking/kinds.js';

const SHAPES: Readonly<Record<Kind, SVGTemplateResult>> = {
  asking: svg`<path d="M3 8h9M8.5 4.5 12 8l-3.5 3.5" />`,
  queued: svg`<path d="M3 4h10M3 8h7M3 12h4" />`,
  running: svg`<circle cx="8" cy="8" r="5.5" opacity=".3" /><path class="turn" d="M8 2.5A5.5 5.5 0 0 1 13.5 8" />`,
  done: svg`<circle cx="8" cy="8" r="6" /><path d="m5.4 8.2 1.8 1.8 3.4-3.8" />`,
  coalesced: svg`<circle cx="6" cy="8" r="4" /><circle cx="10" cy="8" r="4" />`,
  hit: svg`<path d="M9 1.8 3.8 9H8l-1 5.2L12.2 7H8z" />`,
  refused: svg`<path d="M5.5 2h5L14 5.5v5L10.5 14h-5L2 10.5v-5zM5 8h6" />`,
  timeout: svg`<path d="M4 2h8M4 14h8M5 2c0 4 6 4 6 6s-6 2-6 6M11 2c0 4-6 4-6 6s6 2 6 6" />`,
  failed: svg`<path d="M8 2.2 14.3 13.5H1.7zM8 6.5v3.2M8 11.6v.2" />`,
  left: svg`<path d="M4 4l8 8M12 4l-8 8" />`,
};

/** The shape of a kind, in the current colour; decorative, since its word always stands beside it. */
export function mark(kind: Kind): SVGTemplateResult {
  return svg`<svg viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" fill="none"
    stroke="currentColor" stroke-width="1.7" stroke-linecap="round" stroke-linejoin="round">${SHAPES[kind]}</svg>`;
}

/** The mark of what runs turns. */
export const marks = css`
  .turn {
    transform-origin: 8px 8px;
    animation: turn 0.9s linear infinite;
  }
  @keyframes turn {
    to {
      transform: rotate(1turn);
    }
  }
`;
