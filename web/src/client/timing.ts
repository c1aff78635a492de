/** Waits and delays, in milliseconds. */
export interface Timing {
  /** Jobs that are wanted within this time go into one stream together. */
  readonly gatherMs: number;
  /** A stream that has not begun within this time is taken as impossible here: poll instead. */
  readonly openMs: number;
  /** Longest silence of an open stream; more than twice the edge's heartbeat. */
  readonly silenceMs: number;
  /** First delay before a reconnect; doubles up to 10 s. The server's own `retry:` replaces it. */
  readonly reconnectMs: number;
  /** Delay between rounds of polling; doubles up to ten times this. */
  readonly pollMs: number;
  /** How long polling goes on before a stream is tried again; losses longer ago than this are forgotten. */
  readonly restMs: number;
  /** How long an answer is waited for where `waitMs` says nothing. */
  readonly deadlineMs: number;
  /** A call that is not answered within this time is taken as lost. */
  readonly answerMs: number;
}

export const TIMING: Timing = {
  gatherMs: 20,
  openMs: 10_000,
  silenceMs: 45_000,
  reconnectMs: 500,
  pollMs: 300,
  restMs: 60_000,
  deadlineMs: 60_000,
  answerMs: 20_000,
};
