import { css } from 'lit';

/** What every element of the page shares; colours and measures come from theme.css. */
export const shared = css`
  :host {
    display: block;
  }
  [hidden] {
    display: none !important;
  }
  *,
  *::before,
  *::after {
    box-sizing: border-box;
  }
  h1,
  h2,
  h3,
  p {
    margin: 0;
  }
  .soft {
    color: var(--soft);
  }
  .fill {
    display: flex;
    flex-direction: column;
    gap: 8px;
    min-width: 0;
    min-height: 0;
  }
  .number {
    font-variant-numeric: tabular-nums;
  }
  .unseen {
    position: absolute;
    width: 1px;
    height: 1px;
    overflow: hidden;
    clip-path: inset(50%);
    white-space: nowrap;
  }
  button,
  select,
  input {
    font: inherit;
    color: inherit;
  }
  button,
  select,
  input[type='date'] {
    min-height: 36px;
    padding: 4px 10px;
    border: 1px solid var(--line);
    border-radius: 9px;
    background: var(--card);
  }
  button {
    cursor: pointer;
  }
  button:hover:not(:disabled),
  select:hover,
  input[type='date']:hover {
    border-color: var(--soft);
  }
  button:disabled {
    color: var(--soft);
    cursor: default;
  }
  button.plain {
    min-height: 0;
    padding: 0;
    border: 0;
    background: none;
    font-weight: inherit;
  }
  button.link,
  button .link {
    color: var(--accent);
    text-decoration: underline;
    text-underline-offset: 3px;
    text-decoration-thickness: 1px;
  }
  :focus-visible {
    outline: 2px solid var(--accent);
    outline-offset: 2px;
  }
  @media (prefers-reduced-motion: reduce) {
    *,
    *::before,
    *::after {
      animation: none !important;
      transition: none !important;
    }
  }
`;

/** A card: a section with a heading of its own. */
export const card = css`
  section {
    border: 1px solid var(--line);
    border-radius: var(--radius);
    background: var(--card);
    box-shadow: var(--shadow);
  }
  h2 {
    font-size: 16px;
    font-weight: 650;
    letter-spacing: -0.01em;
  }
`;

/** Tables: quiet lines, numbers to the right, a head that stays. */
export const tables = css`
  .scroll {
    min-height: 0;
    overflow: auto;
    container-type: inline-size;
    margin: 0 -18px -18px;
    border-top: 1px solid var(--line);
    border-radius: 0 0 var(--radius) var(--radius);
  }
  table {
    width: 100%;
    border-collapse: collapse;
    font-size: 14px;
  }
  th,
  td {
    padding: 7px 6px;
    text-align: start;
    white-space: nowrap;
  }
  th:first-child,
  td:first-child {
    padding-inline-start: 18px;
  }
  th:last-child,
  td:last-child {
    padding-inline-end: 18px;
  }
  thead th {
    position: sticky;
    top: 0;
    z-index: 1;
    background: var(--card);
    box-shadow: inset 0 -1px var(--line);
    color: var(--soft);
    font-weight: 500;
    font-size: 13px;
  }
  tbody tr + tr > * {
    border-top: 1px solid color-mix(in srgb, var(--line) 60%, transparent);
  }
  tbody th {
    font-weight: 500;
  }
  tbody tr:hover {
    background: var(--sunk);
  }
  tbody tr.picked {
    background: color-mix(in srgb, var(--accent) 12%, transparent);
  }
  .right {
    text-align: end;
    font-variant-numeric: tabular-nums;
  }
`;
