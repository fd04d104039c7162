import type { ChainHealth } from '../port/port.ts';
import { ChainUnavailable } from '../port/port-errors.ts';

/** By the newest block, of which `time` is in Unix seconds. */
export async function healthOf(
  readHead: () => Promise<{ height: bigint; time: number }>,
  nowMs: () => number,
): Promise<ChainHealth> {
  try {
    const { height, time } = await readHead();
    return { ok: true, height, lagMs: Math.max(0, nowMs() - time * 1000) };
  } catch (error) {
    if (!(error instanceof ChainUnavailable)) throw error;
    return { ok: false, height: 0n, lagMs: 0, detail: error.message };
  }
}
