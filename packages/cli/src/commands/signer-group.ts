import { resource } from '../resource.ts';
import { addRotate } from './rotate.ts';
import { SIGNER_OPERATIONS } from './signer.ts';

/** The signer's own commands, and the one that needs the database as well. */
export const addSigner = resource({
  name: 'signer',
  description: 'The process that holds the keys of real money',
  examples: [
    'florin signer init --key-file keys.json --passphrase-file passphrase --journal signer.journal',
    'florin signer status --signer unix:/run/florin/signer.sock',
  ],
  operations: [...SIGNER_OPERATIONS, addRotate],
});
