import type { HoldReason } from '../port/port.ts';

/** Why the holder of a simulated wallet may be told to sign nothing. */
export const HOLD_REASONS = ['frozen', 'approvals', 'limit'] as const satisfies readonly HoldReason[];
export type SimulatedHold = (typeof HOLD_REASONS)[number];
