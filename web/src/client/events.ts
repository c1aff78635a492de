import { createParser } from 'eventsource-parser';
import { within } from './wait.js';

/** One server-sent event. */
export interface ServerEvent {
  readonly name: string;
  readonly data: string;
  readonly id: string | null;
}

export interface ReadOptions {
  /** Longest silence in milliseconds, comments counting as sound, before the stream is given up. */
  readonly silenceMs: number;
  /** Told of the reconnection delay that the server asks for. */
  readonly onRetry?: (ms: number) => void;
}

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
  options: ReadOptions,
): AsyncGenerator<ServerEvent> {
  const arrived: ServerEvent[] = [];
  const parser = createParser({
    onEvent: ({ event, data, id }) => arrived.push({ name: event ?? 'message', data, id: id ?? null }),
    onRetry: options.onRetry,
  });
  const decoder = new TextDecoder();
  const reader = body.getReader();
  const late = () => new SilentStream(`nothing arrived for ${options.silenceMs} ms`);
  try {
    for (;;) {
      const { done, value } = await within(options.silenceMs, reader.read(), late);
      if (done) return;
      parser.feed(decoder.decode(value, { stream: true }));
      yield* arrived.splice(0);
    }
  } finally {
    // A broken stream refuses to be cancelled too; what broke it has been thrown already.
    await reader.cancel().catch(() => undefined);
  }
}
