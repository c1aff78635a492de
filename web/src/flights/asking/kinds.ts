import type { State } from '../../client/index.js';

/** How a request stands, in the words that people see. Each has a shape and a colour of its own. */
export type Kind =
  | 'asking'
  | 'queued'
  | 'running'
  | 'done'
  | 'coalesced'
  | 'hit'
  | 'refused'
  | 'timeout'
  | 'failed'
  | 'left';

export const WORDS: Readonly<Record<Kind, string>> = {
  asking: 'asking',
  queued: 'queued',
  running: 'running',
  done: 'done',
  coalesced: 'coalesced',
  hit: 'cache hit',
  refused: 'refused',
  timeout: 'still running',
  failed: 'failed',
  left: 'left',
};

/** The colour of a kind: a custom property of theme.css. */
export function colour(kind: Kind): string {
  return `var(--${kind === 'timeout' ? 'queued' : kind})`;
}

export function kindOf(state: State): Kind {
  switch (state.name) {
    case 'submitting':
      return 'asking';
    case 'queued':
    case 'running':
      return state.name;
    case 'done':
      if (state.answer.cache === 'hit') return 'hit';
      return state.answer.cache === 'coalesced' || state.answer.coalesced ? 'coalesced' : 'done';
    case 'error':
      if (state.error.code === 'TIMEOUT') return 'timeout';
      return state.error.refused ? 'refused' : 'failed';
  }
}
