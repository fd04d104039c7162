import { ChainUnavailable, type Head } from './port/index.ts';
import type { EndpointState } from './rpc/endpoints.ts';

/** Height, finality and endpoints of a live network at one moment. */
export interface NetworkState {
  /** As the operator named it. */
  name: string;
  /** What this process believes; null where nothing can be believed. */
  head: Head | null;
  /** Why there is no head: the endpoints are away or differ, or the network is not the one of the networks file. */
  problem: string | null;
  endpoints: readonly EndpointState[];
}

/** Asks for the head and each endpoint for itself. Never throws for a network that is away. */
export async function readNetworkState(
  name: string,
  {
    readHead,
    readEndpoints,
  }: { readHead: () => Promise<Head>; readEndpoints: () => Promise<EndpointState[]> },
): Promise<NetworkState> {
  const [head, endpoints] = await Promise.all([readHead().catch(whyNone), readEndpoints()]);
  return typeof head === 'string'
    ? { name, head: null, problem: head, endpoints }
    : { name, head, problem: null, endpoints };
}

function whyNone(error: unknown): string {
  if (error instanceof ChainUnavailable) return error.message;
  throw error;
}
