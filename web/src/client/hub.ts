import { Connection, type ConnectionOptions } from './connection.js';
import { PlaneError } from './problem.js';
import { isSettled, type Settled, type Sighting } from './sighting.js';
import { LONGEST } from './wait.js';

/** One who waits for a job. */
export interface Wait {
  readonly signal: AbortSignal;
  /** Told of every sighting but the last, which `follow` resolves with. */
  readonly sighted: (sighting: Sighting) => void;
  /** How long to wait, over deadlines of the edge; undefined: until the edge's, or for the usual time. */
  readonly waitMs: number | undefined;
  /**
   * Called when this one leaves by its signal as the last one here who waits for the job; undefined: the
   * job is to run on.
   */
  readonly left: (() => void) | undefined;
}

interface Waiter {
  readonly wait: Wait;
  readonly settle: (end: Settled) => void;
  readonly fail: (reason: unknown) => void;
}

/** A job that somebody here waits for. */
interface Wanted {
  readonly jobId: string;
  readonly waiters: Set<Waiter>;
  last: Sighting | null;
  /** Somebody stopped waiting and wants the job to run on. */
  kept: boolean;
  connection: Connection | null;
}

/** The jobs that a page waits for: each once, however many wait for it, and all of them on one stream. */
export class Hub {
  readonly #options: Omit<ConnectionOptions, 'told'>;
  readonly #jobs = new Map<string, Wanted>();
  readonly #connections: Connection[] = [];
  readonly #gathered = new Set<string>();

  constructor(options: Omit<ConnectionOptions, 'told'>) {
    this.#options = options;
  }

  wants(jobId: string): boolean {
    return this.#jobs.has(jobId);
  }

  /** The end of a job, also when that is an error; rejects with the reason of the wait's signal. */
  follow(jobId: string, wait: Wait): Promise<Settled> {
    return new Promise((resolve, reject) => {
      const job = this.#jobs.get(jobId) ?? this.#want(jobId);
      const stop = () => {
        clearTimeout(timer);
        wait.signal.removeEventListener('abort', onAbort);
        job.waiters.delete(waiter);
        if (job.waiters.size === 0) this.#drop(job);
      };
      const waiter: Waiter = {
        wait,
        settle: (end) => {
          stop();
          resolve(end);
        },
        fail: (reason) => {
          stop();
          reject(reason);
        },
      };
      const onAbort = () => {
        if (!wait.left) job.kept = true;
        waiter.fail(wait.signal.reason);
        if (!this.wants(jobId) && !job.kept) wait.left?.();
      };
      const onDeadline = () => {
        job.kept = true;
        waiter.settle(timeout(jobId));
      };
      const waitMs = wait.waitMs ?? this.#options.timing.deadlineMs;
      const timer = setTimeout(onDeadline, Math.min(waitMs, LONGEST));
      wait.signal.addEventListener('abort', onAbort, { once: true });
      job.waiters.add(waiter);
      if (wait.signal.aborted) onAbort();
      else if (job.last) sight(waiter, job.last);
    });
  }

  /** Ends the waiting of all who wait here for this job. */
  end(jobId: string, end: Settled): void {
    for (const waiter of [...(this.#jobs.get(jobId)?.waiters ?? [])]) waiter.settle(end);
  }

  #want(jobId: string): Wanted {
    const job: Wanted = { jobId, waiters: new Set(), last: null, kept: false, connection: null };
    this.#jobs.set(jobId, job);
    this.#gather(jobId);
    return job;
  }

  #drop(job: Wanted): void {
    if (this.#jobs.get(job.jobId) !== job) return;
    this.#jobs.delete(job.jobId);
    this.#gathered.delete(job.jobId);
    job.connection?.remove(job.jobId);
  }

  #gather(jobId: string): void {
    if (this.#gathered.size === 0) setTimeout(() => this.#connect(), this.#options.timing.gatherMs);
    this.#gathered.add(jobId);
  }

  /** Gives the jobs that gathered to connections that have room; nearly always it is one. */
  #connect(): void {
    const jobs = [...this.#gathered].flatMap((jobId) => this.#jobs.get(jobId) ?? []);
    this.#gathered.clear();
    while (jobs.length > 0) {
      const connection = this.#connections.find(({ room }) => room > 0) ?? this.#newConnection();
      const taken = jobs.splice(0, connection.room);
      for (const job of taken) job.connection = connection;
      connection.add(taken.map(({ jobId }) => jobId));
    }
  }

  #newConnection(): Connection {
    const told = (jobId: string, sighting: Sighting, sure: boolean) => this.#told(jobId, sighting, sure);
    const connection = new Connection({ ...this.#options, told });
    this.#connections.push(connection);
    return connection;
  }

  #told(jobId: string, sighting: Sighting, sure: boolean): void {
    const job = this.#jobs.get(jobId);
    if (!job) return;
    if (!sure && sighting.name === 'error' && sighting.error.code === 'TIMEOUT')
      void this.#late(job, sighting);
    else if (isSettled(sighting)) this.end(jobId, sighting);
    else {
      job.last = sighting;
      for (const waiter of [...job.waiters]) sight(waiter, sighting);
    }
  }

  /** The edge's deadline: whoever wants to wait longer has the job's status read, and a stream opened anew. */
  async #late(job: Wanted, end: Settled): Promise<void> {
    const { jobId, connection } = job;
    for (const waiter of [...job.waiters]) {
      if (waiter.wait.waitMs !== undefined) continue;
      job.kept = true;
      waiter.settle(end);
    }
    if (!this.wants(jobId)) return;
    connection?.remove(jobId);
    job.connection = null;
    await connection?.look(jobId, new AbortController().signal);
    if (this.#jobs.get(jobId) === job) this.#gather(jobId);
  }
}

function timeout(jobId: string): Settled {
  return { name: 'error', error: new PlaneError({ status: 504, code: 'TIMEOUT', jobId }) };
}

/** Passes a sighting on; one whose listener throws is out, and the others are not troubled. */
function sight(waiter: Waiter, sighting: Sighting): void {
  try {
    waiter.wait.sighted(sighting);
  } catch (error) {
    waiter.fail(error);
  }
}
