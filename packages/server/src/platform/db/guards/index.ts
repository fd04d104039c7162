export { bodyDigest, claimKey } from './idempotency.ts';
export { addWithin, takeBack } from './limits.ts';
export { Moves } from './moves.ts';
