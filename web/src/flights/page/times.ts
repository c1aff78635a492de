import { html, type TemplateResult } from 'lit';
import type { Entry } from '../asking/requests.js';
import { duration } from '../look/format.js';

/**
 * Where a request's time went, drawn where it lies in its round's: queue, run, and the rest: network, edge,
 * browser. One gradient: what changes its colours moves nothing.
 */
export function bar(entry: Entry, total: number, after: number, span: number): TemplateResult {
  const { queue, run } = parts(entry);
  const rest = Math.max(0, total - queue - run);
  let end = 0;
  const stops = [
    ['transparent', after],
    ['var(--queued)', queue],
    ['var(--running)', run],
    ['var(--soft)', rest],
    ['transparent', span],
  ] as const;
  const gradient = stops.map(([ink, ms]) => {
    const begin = end;
    end += (100 * ms) / span;
    return `${ink} ${begin.toFixed(1)}% ${end.toFixed(1)}%`;
  });
  const words =
    queue + run > 0 ? `queue ${duration(queue)}, run ${duration(run)}, rest ${duration(rest)}` : '';
  return html`<div class="parts" title=${words} aria-hidden="true" style="--times:${gradient.join()}"></div>`;
}

/** By the queue's clock. A joined job may be older than this request: its parts are not this one's. */
function parts({ state, kind }: Entry): { queue: number; run: number } {
  const nothingKnown = { queue: 0, run: 0 };
  if (state.name !== 'done' || kind === 'coalesced') return nothingKnown;
  const { created, claimed, finished } = state.answer.times;
  if (!created || !claimed || !finished) return nothingKnown;
  return {
    queue: Date.parse(claimed) - Date.parse(created),
    run: Date.parse(finished) - Date.parse(claimed),
  };
}
