import { pbkdf2Sync } from 'node:crypto';
import { PUBLIC_TEST_MNEMONIC } from '../../scripts/anvil.ts';

/** The seed of BIP 39. */
export const TEST_SEED = Uint8Array.from(pbkdf2Sync(PUBLIC_TEST_MNEMONIC, 'mnemonic', 2_048, 64, 'sha512'));
