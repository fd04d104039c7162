import { type Child, startChild } from './child.ts';
import type { RunOptions } from './rows.ts';

/** Requests a second that no round reaches: the limit on them is not what is measured. */
const BEYOND_REACH = '1000000';

export interface Service extends Child {
  baseUrl: string;
}

/** One API node, as `florin serve` starts it, on the database of these premises; answers when it listens. */
export async function startService(
  { env }: { env: Record<string, string> },
  { profileDir }: Pick<RunOptions, 'profileDir'>,
): Promise<Service> {
  const child = startChild('create/serve.ts', {
    profileDir,
    env: { ...env, FLORIN_PORT: '0', FLORIN_RATE_PER_SECOND: BEYOND_REACH, FLORIN_RATE_BURST: BEYOND_REACH },
  });
  const { baseUrl } = await child.next<{ baseUrl: string }>();
  return { ...child, baseUrl };
}
