import type { BlobAddress } from './types.js';

/** The addresses of one surface at an edge. */
export class Routes {
  readonly #root: string;

  constructor(baseUrl: string, surface: string) {
    this.#root = `${baseUrl}/api/${encodeURIComponent(surface)}`;
  }

  get questions(): string {
    return `${this.#root}/q`;
  }

  job(jobId: string): string {
    return `${this.#root}/q/${encodeURIComponent(jobId)}`;
  }

  blob({ jobId, blob }: BlobAddress): string {
    return `${this.job(jobId)}/blob/${blob}`;
  }

  /** Where a ticket for a job's blobs is issued. */
  ticket(jobId: string): string {
    return `${this.job(jobId)}/ticket`;
  }

  /** The one stream of many jobs. */
  stream(jobIds: Iterable<string>): string {
    return `${this.#root}/stream?jobs=${[...jobIds].map(encodeURIComponent).join(',')}`;
  }
}
