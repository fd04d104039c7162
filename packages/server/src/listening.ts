import type { FastifyInstance } from 'fastify';
import type { Config } from './platform/config.ts';
import { ConfigError } from './platform/config.ts';
import { codeOf } from './platform/db/index.ts';

/** Ports above the default one that are tried if it is taken. */
const PORTS_TRIED = 50;

/**
 * Listens on the configured host and port. If the default port is taken, the next free one is used; a configured port is
 * never changed.
 *
 * @returns the public base URL
 */
export async function listen(server: FastifyInstance, config: Config): Promise<string> {
  const last = config.portGiven ? config.port : config.port + PORTS_TRIED;
  for (let port = config.port; ; port++) {
    try {
      await server.listen({ host: config.host, port });
      return publicUrlOf(server, config);
    } catch (error) {
      if (codeOf(error) !== 'EADDRINUSE') throw refusal(error, config);
      if (port >= last)
        throw new ConfigError(`Port ${port} is taken: set FLORIN_PORT (--port) to a free one.`);
    }
  }
}

function refusal(error: unknown, { host, port }: Config): unknown {
  const code = codeOf(error);
  if (code === 'EACCES')
    return new ConfigError(`Port ${port} may not be used by this user: set FLORIN_PORT (--port).`);
  if (code === 'EADDRNOTAVAIL' || code === 'ENOTFOUND') {
    return new ConfigError(`FLORIN_HOST ${host} is no address of this machine.`);
  }
  return error;
}

function publicUrlOf(server: FastifyInstance, config: Config): string {
  if (config.publicUrl !== undefined) return config.publicUrl;
  const address = server.server.address();
  const port = typeof address === 'object' ? (address?.port ?? config.port) : config.port;
  const host = config.host.includes(':') ? `[${config.host}]` : config.host;
  return `${config.tls === undefined ? 'http' : 'https'}://${host}:${port}`;
}
