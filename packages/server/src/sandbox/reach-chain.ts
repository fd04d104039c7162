import { ChainUnavailable } from '../chains/index.ts';
import { Fail } from '../platform/fail.ts';

/** Runs a call to a simulated chain for a caller of the API. @throws Fail `service_unavailable` where it is away */
export async function reachChain<T>(call: () => Promise<T>): Promise<T> {
  try {
    return await call();
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    throw new Fail('service_unavailable', {
      message:
        'The simulated chain cannot be reached right now. Look at what it holds, then repeat the call.',
      retryAfterSeconds: 1,
      cause: error,
    });
  }
}
