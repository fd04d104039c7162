import type { BlockReason } from '../port/port.ts';

/** Why the holder of a simulated wallet may be told to sign nothing. */
export const BLOCK_REASONS = ['frozen', 'approvals', 'limit'] as const satisfies readonly BlockReason[];
export type SimulatedBlockReason = (typeof BLOCK_REASONS)[number];
