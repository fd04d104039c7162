import { getCACertificates } from 'node:tls';
import type { Agent, Dispatcher } from 'undici';

/** Requests to servers of the operator, over connections that are kept. */
export interface OperatorAgent {
  request(
    url: string | URL,
    options: Omit<Dispatcher.RequestOptions, 'origin' | 'path'>,
  ): Promise<Dispatcher.ResponseData>;
  close(): Promise<void>;
}

/** For servers of the operator, which may have certificates of their own. */
export function createOperatorAgent(ca: string | undefined, limits: Agent.Options): OperatorAgent {
  let loaded: ReturnType<typeof load> | undefined;
  return {
    request: async (url, options) => {
      loaded ??= load(ca, limits);
      const { agent, request } = await loaded;
      return await request(url, { ...options, dispatcher: agent });
    },
    close: async () => (await loaded)?.agent.destroy(),
  };
}

/** The library is loaded with the first request: a sandbox without live networks makes none. */
async function load(ca: string | undefined, limits: Agent.Options) {
  const { Agent, request } = await import('undici');
  const agent = new Agent({
    ...limits,
    connect: {
      minVersion: 'TLSv1.2',
      // Explicit, as the environment can turn it off.
      rejectUnauthorized: true,
      ...(ca !== undefined && { ca: [...getCACertificates('default'), ca] }),
    },
  });
  return { agent, request };
}
