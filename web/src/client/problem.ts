/** The members of a problem document (RFC 9457) that pgplane uses. */
export interface Problem {
  readonly title?: unknown;
  readonly status?: unknown;
  readonly code?: unknown;
  readonly detail?: unknown;
  readonly jobId?: unknown;
}

const TITLES: Readonly<Record<string, string>> = {
  TIMEOUT: 'No answer within the time allowed; the job runs on',
  POISON: 'The job failed on every try',
  CANCELLED: 'The job was cancelled',
  NETWORK: 'The server could not be reached',
};

export interface PlaneErrorInit {
  readonly status: number | null;
  readonly code: string;
  readonly title?: string | undefined;
  readonly detail?: string | undefined;
  readonly jobId?: string | null | undefined;
  readonly retryAfter?: number | null | undefined;
  readonly cause?: unknown;
}

/**
 * The one error of this library: a refusal, a failure, a deadline or a lost connection.
 * An aborted call rejects with its signal's reason instead.
 */
export class PlaneError extends Error {
  /** HTTP status, also for refusals inside a stream; null when no server answered. */
  readonly status: number | null;
  /** Stable name: TIMEOUT, POISON, CANCELLED, NETWORK, a handler's own code, or HTTP_nnn. */
  readonly code: string;
  readonly title: string;
  readonly detail: string | null;
  /** The job this is about; give it to `resume` after a TIMEOUT. */
  readonly jobId: string | null;
  /** Seconds after which the server wants to be asked again. */
  readonly retryAfter: number | null;

  constructor(init: PlaneErrorInit) {
    const title = init.title ?? TITLES[init.code] ?? `The server answered ${init.status}`;
    super(init.detail ? `${title}: ${init.detail}` : title, { cause: init.cause });
    this.name = 'PlaneError';
    this.status = init.status;
    this.code = init.code;
    this.title = title;
    this.detail = init.detail ?? null;
    this.jobId = init.jobId ?? null;
    this.retryAfter = init.retryAfter ?? null;
  }

  /** An answer about the question itself: asking again changes nothing. */
  get refused(): boolean {
    return this.status !== null && [400, 401, 403, 404, 413, 422].includes(this.status);
  }

  /** The job outlives the wait: `resume(jobId)` takes it up again. */
  get resumable(): boolean {
    return this.jobId !== null && (this.code === 'TIMEOUT' || this.code === 'NETWORK');
  }

  /** The edge is busy or out of reach: the same call may pass later. */
  get passing(): boolean {
    return this.code === 'NETWORK' || [429, 502, 503, 504].includes(this.status ?? 0);
  }

  static fromProblem(problem: Problem, init: Partial<PlaneErrorInit> = {}): PlaneError {
    const status = typeof problem.status === 'number' ? problem.status : (init.status ?? null);
    return new PlaneError({
      status,
      code: text(problem.code) ?? `HTTP_${status}`,
      title: text(problem.title),
      detail: text(problem.detail),
      jobId: text(problem.jobId) ?? init.jobId,
      retryAfter: init.retryAfter,
    });
  }

  /** From an answer that is no success, whatever its body turns out to be. */
  static async fromResponse(response: Response, jobId: string | null): Promise<PlaneError> {
    const init = { status: response.status, jobId, retryAfter: retryAfter(response.headers) };
    try {
      const body: unknown = JSON.parse(await response.text());
      if (typeof body === 'object' && body !== null) return PlaneError.fromProblem(body, init);
    } catch (error) {
      if (!(error instanceof SyntaxError)) throw error;
    }
    return PlaneError.fromProblem({}, init);
  }

  static network(cause: unknown, jobId: string | null): PlaneError {
    const detail = cause instanceof Error ? cause.message : String(cause);
    return new PlaneError({ status: null, code: 'NETWORK', detail, jobId, cause });
  }
}

/** Retry-After in seconds: delta-seconds or an HTTP date (RFC 9110); null when absent or unreadable. */
export function retryAfter(headers: Headers, now: number = Date.now()): number | null {
  const value = headers.get('retry-after')?.trim();
  if (!value) return null;
  if (/^\d+$/.test(value)) return Number(value);
  const date = Date.parse(value);
  return Number.isNaN(date) ? null : Math.max(0, (date - now) / 1000);
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value : undefined;
}
