import { memberText } from './json.js';
import { PlaneError, type Problem } from './problem.js';
import type { Answer, Cache, Progress, Times } from './types.js';

/** What a stream event or a status document tells about a job. */
export type Sighting =
  | { readonly name: 'queued'; readonly position: number | null }
  | { readonly name: 'running'; readonly progress: Progress | null }
  | { readonly name: 'done'; readonly answer: Omit<Answer, 'coalesced'> }
  | { readonly name: 'error'; readonly error: PlaneError };

/** The status document, and the data of `queued`, `running`, `progress` and `done` events. */
interface JobDocument {
  readonly jobId?: unknown;
  readonly status?: string;
  readonly position?: number | null;
  readonly progress?: Progress | null;
  readonly result?: unknown;
  readonly error?: Problem | null;
  readonly cache?: Cache;
  readonly times?: Partial<Times>;
}

export type Settled = Extract<Sighting, { name: 'done' | 'error' }>;

export function isSettled(sighting: Sighting): sighting is Settled {
  return sighting.name === 'done' || sighting.name === 'error';
}

/** Reads one event of a stream of jobs; null when it is about no job, or this version does not know its name. */
export function sightEvent(name: string, data: string): { jobId: string; sighting: Sighting } | null {
  const job: JobDocument = JSON.parse(data);
  const { jobId } = job;
  if (typeof jobId !== 'string') return null;
  switch (name) {
    case 'queued':
      return { jobId, sighting: queued(job) };
    case 'running':
    case 'progress':
      return { jobId, sighting: running(job) };
    case 'done':
      return { jobId, sighting: done(job, data, jobId) };
    case 'error':
      return { jobId, sighting: failed(job as Problem, jobId) };
    default:
      return null;
  }
}

/** Reads a status document. */
export function sightStatus(text: string, jobId: string): Sighting {
  const job: JobDocument = JSON.parse(text);
  switch (job.status) {
    case 'done':
      return job.error ? failed(job.error, jobId) : done(job, text, jobId);
    case 'poison':
    case 'cancelled':
      return failed(job.error ?? {}, jobId);
    case 'in_progress':
    case 'cancelling':
      return running(job);
    default:
      return queued(job);
  }
}

function queued(job: JobDocument): Sighting {
  return { name: 'queued', position: job.position ?? null };
}

function running(job: JobDocument): Sighting {
  return { name: 'running', progress: job.progress ?? null };
}

function done(job: JobDocument, text: string, jobId: string): Sighting {
  const { created = null, claimed = null, finished = null } = job.times ?? {};
  return {
    name: 'done',
    answer: {
      jobId,
      result: job.result ?? null,
      raw: memberText(text, 'result') ?? 'null',
      cache: job.cache ?? null,
      times: { created, claimed, finished },
    },
  };
}

function failed(problem: Problem, jobId: string): Sighting {
  return { name: 'error', error: PlaneError.fromProblem(problem, { jobId }) };
}
