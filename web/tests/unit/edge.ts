import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** One request as the edge saw it. */
export interface Seen {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage['headers'];
  readonly body: string;
  /** The jobs in the address: a stream's, or the one of any other request. */
  readonly jobs: readonly string[];
  /** Settles when the client has closed the connection, or the answer was finished. */
  readonly closed: Promise<void>;
}

/** Answers one request; `count` is how many of its kind came before it. */
export type Script = (response: ServerResponse, seen: Seen, count: number) => void | Promise<void>;

export interface Scripts {
  readonly submit?: Script;
  readonly stream?: Script;
  readonly status?: Script;
  readonly leave?: Script;
  readonly blob?: Script;
  readonly ticket?: Script;
}

/** An HTTP server with the routes of an edge, whose answers are scripted by the test. */
export class ScriptedEdge {
  readonly submits: Seen[] = [];
  readonly streams: Seen[] = [];
  readonly polls: Seen[] = [];
  readonly leaves: Seen[] = [];
  readonly blobs: Seen[] = [];
  readonly tickets: Seen[] = [];
  scripts: Scripts = {};
  readonly #server = createServer((request, response) => void this.#answer(request, response));

  async start(): Promise<void> {
    await new Promise<void>((resolve) => this.#server.listen(0, '127.0.0.1', resolve));
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  async stop(): Promise<void> {
    this.#server.closeAllConnections();
    await new Promise((resolve) => this.#server.close(resolve));
  }

  async #answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = '';
    for await (const chunk of request) body += chunk;
    const { method = '', url: path = '', headers } = request;
    const closed = new Promise<void>((resolve) => response.once('close', resolve));
    const { pathname, searchParams } = new URL(path, this.url);
    const [, jobId = '', rest = ''] = /\/q\/(\d+)\/?(.*)$/.exec(pathname) ?? [];
    const jobs = searchParams.get('jobs')?.split(',') ?? [jobId];
    const seen: Seen = { method, path, headers, body, jobs, closed };
    const { submit = accept(), stream, status, leave = left, blob, ticket } = this.scripts;
    if (method === 'DELETE') await this.#run(this.leaves, seen, response, leave);
    else if (pathname.endsWith('/stream')) await this.#run(this.streams, seen, response, stream);
    else if (rest.startsWith('blob/')) await this.#run(this.blobs, seen, response, blob);
    else if (rest === 'ticket') await this.#run(this.tickets, seen, response, ticket);
    else if (method === 'POST') await this.#run(this.submits, seen, response, submit);
    else await this.#run(this.polls, seen, response, status);
  }

  async #run(log: Seen[], seen: Seen, response: ServerResponse, script: Script = missing): Promise<void> {
    const count = log.push(seen) - 1;
    await script(response, seen, count);
  }
}

/** 202, as the edge accepts a question. */
export function accept(jobId = '41', coalesced = false): Script {
  return (response) => {
    const at = `/api/flights/q/${jobId}`;
    json(response, 202, { jobId, streamUrl: `${at}/stream?ticket=t`, statusUrl: at, coalesced });
  };
}

const left: Script = (response) => void response.writeHead(204).end();

const missing: Script = (response) => problem(response, 404, { code: 'NOT_FOUND' });

export function json(response: ServerResponse, status: number, body: unknown, headers = {}): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(text);
}

export function problem(response: ServerResponse, status: number, members: object, headers = {}): void {
  const body = { type: 'about:blank', title: 'Refused', status, ...members };
  json(response, status, body, { 'content-type': 'application/problem+json', ...headers });
}

/** Begins a stream and writes these texts to it, each as a chunk of its own. */
export async function stream(response: ServerResponse, ...chunks: (string | Uint8Array)[]): Promise<void> {
  if (!response.headersSent) {
    response.socket?.setNoDelay(true);
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' });
  }
  for (const chunk of chunks)
    await new Promise<void>((resolve) => void response.write(chunk, () => resolve()));
}

/** The text of one event; it is about job 41 where the data does not say otherwise. */
export function event(name: string, data: object | string, id?: string): string {
  const text = typeof data === 'string' ? data : JSON.stringify({ jobId: '41', ...data });
  return `event: ${name}\ndata: ${text}\n${id === undefined ? '' : `id: ${id}\n`}\n`;
}

export const TIMES = {
  created: '2013-01-01T00:00:00Z',
  claimed: '2013-01-01T00:00:00.004Z',
  finished: '2013-01-01T00:00:01Z',
};

/** A `done` event with this JSON text as its result. */
export function doneEvent(result: string, jobId = '41'): string {
  const text = `{"jobId":"${jobId}","result":${result},"cache":null,"times":${JSON.stringify(TIMES)}}`;
  return event('done', text, `${jobId}.end`);
}
