import type { ExampleStep } from '@florin/site';

/** A request of one operation that shows what it is for. */
export interface Example {
  /** Method of the SDK, such as `payouts.create`. */
  sdk: string;
  /** TypeScript in place of a call with the parameters of the path and the body. */
  code?: string;
  query?: Readonly<Record<string, string>>;
  body?: object;
  /** Fields of the body that hold tokens in the smallest unit, which the SDK takes as bigint. */
  units?: readonly string[];
  /** Calls that make what it names, in order, each with the request of its own example. */
  given?: readonly ExampleStep[];
  /** Example ids by the place in its answer where a later call finds the real one. */
  makes?: Readonly<Record<string, string>>;
  /** Completes “The sandbox refuses it: …”, of operations for real money alone. */
  refusedBySandbox?: string;
}

/** By operation. */
export type Examples = Readonly<Record<string, Example>>;
