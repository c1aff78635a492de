export { blobsOf } from './blob.js';
export type { TokenSource } from './http.js';
export type { QueryKey } from './key.js';
export { createPlane, type Plane, type PlaneOptions } from './plane.js';
export { PlaneError } from './problem.js';
export type { Timing } from './timing.js';
export type {
  Answer,
  AskOptions,
  BlobAddress,
  BlobRef,
  Cache,
  Params,
  Progress,
  QueryOptions,
  ResumeOptions,
  State,
  Times,
  WaitOptions,
  WatchOptions,
} from './types.js';
