import type { Peer } from '../peers/peers.ts';

/** A queue as the bench drives it: in a process of its own. */
export interface QueueUnderTest {
  name: 'florin' | Peer;
  /** Starts taking jobs; `onStart` is called at the start of each with its payload. */
  start(onStart: (payload: { sentMs?: number }) => void): Promise<void>;
  /** Jobs that are not done. */
  countLeft(): Promise<number>;
  /** Adds one job, as an application would. */
  enqueue(payload: { sentMs: number }): Promise<void>;
  stop(): Promise<void>;
}

/** What a child is told. */
export interface QueueTask {
  queue: QueueUnderTest['name'];
  url: string;
  /** `drain`: until all jobs are done. `serve`: says the delay of each job. */
  task: 'drain' | 'serve';
  jobs: number;
}

/** Milliseconds on a clock that all processes of a machine share, finer than `Date.now()`. */
export const machineMs = () => performance.timeOrigin + performance.now();

export const KIND = 'bench';

/** Jobs that nobody takes: each stands for a completion that the database accepted. */
export const COMPLETION_KIND = 'bench.completed';
