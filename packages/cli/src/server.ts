import type * as Server from '@florin/server/operator';
import { CommandFailure } from './failure.ts';

export type ServerModule = typeof Server;

/** Loads the server package, if it is installed. Only some commands need it; it takes a second and a newer Node. */
export async function loadServer(): Promise<ServerModule> {
  try {
    return await import('@florin/server/operator');
  } catch (error) {
    if (!isMissing(error)) throw error;
    throw new CommandFailure(
      'server_not_installed',
      'This command needs the server itself, which is not installed here: npm install @florin/server.',
      { cause: error },
    );
  }
}

function isMissing(error: unknown): boolean {
  const code = error instanceof Error && 'code' in error ? error.code : undefined;
  return code === 'ERR_MODULE_NOT_FOUND' && String(error).includes("'@florin/server'");
}

/** Runs `work` with the server; errors meant for the operator become one line. */
export async function withServer<T>(work: (server: ServerModule) => Promise<T>): Promise<T> {
  const server = await loadServer();
  try {
    return await work(server);
  } catch (error) {
    const explanation = server.explain(error);
    if (explanation === undefined) throw error;
    throw new CommandFailure(explanation.code, explanation.message, { cause: error });
  }
}
