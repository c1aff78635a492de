import { createParser } from 'eventsource-parser';
import { unlessAborted, within } from './wait.js';

/** One server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
}

export interface ReadOptions {
  /** Ends the reading at once, whatever the stream makes of it. */
  readonly signal: AbortSignal;
  /** Longest wait for the first bytes; the edge sends some at once, a proxy that buffers keeps them. */
  readonly firstMs: number;
  /** Longest silence in milliseconds, comments counting as sound, before the stream is given up. */
  readonly silenceMs: number;
  /** Told of the reconnection delay that the server asks for. */
  readonly onRetry?: (ms: number) => void;
}

/** No event stream is to be had here: something else was answered, or nothing gets through. */
export class NoStream extends Error {}

/** Nothing came from the server for too long. */
export class SilentStream extends Error {}

/** True for the one kind of response that EventSource accepts. */
export function isEventStream(response: Response): boolean {
  const type = response.headers.get('content-type') ?? '';
  return response.status === 200 && /^text\/event-stream\b/i.test(type) && response.body !== null;
}

/** The events of a response, as they come; ends when the server ends it, throws when the wire breaks. */
export async function* readEvents(
  body: ReadableStream<Uint8Array>,
  { signal, firstMs, silenceMs, onRetry }: ReadOptions,
): AsyncGenerator<ServerEvent> {
  const arrived: ServerEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data }) => arrived.push({ name: event ?? 'message', data }),
    onRetry,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const read = () => unlessAborted(reader.read(), signal);
  try {
    let next = within(firstMs, read(), () => new NoStream());
    for (;;) {
      const { done, value } = await next;
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
      next = within(silenceMs, read(), () => new SilentStream());
    }
  } finally {
    // A broken stream refuses to be cancelled too; what broke it has been thrown already.
    reader.cancel().catch(() => undefined);
  }
}
