import { ChainUnavailable } from '../chains/port/index.ts';
import { Fail } from '../platform/fail.ts';

/** Runs a call to a simulated chain for an API request. @throws Fail `service_unavailable` if it is unreachable */
export async function reachChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Fail('service_unavailable', {
      message: 'The simulated chain is unreachable. Check its state, then repeat the call.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
