export type { Timing } from './follow.js';
export type { TokenSource } from './http.js';
export { createPlane, type Plane, type PlaneOptions, type QueryKey } from './plane.js';
export { PlaneError } from './problem.js';
export type {
  Answer,
  AskOptions,
  Cache,
  Params,
  Progress,
  QueryOptions,
  ResumeOptions,
  State,
  Times,
  WatchOptions,
} from './types.js';
