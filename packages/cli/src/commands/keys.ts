import { parseWhole } from '../duration.ts';
import { operator } from '../operations.ts';
import { overlap, parsed, preset, required, text } from '../options.ts';
import { resource } from '../resource.ts';

const ALL_SCOPES = 'read,write,payouts,refunds';
const SHOWN_ONCE = 'Keep the secret key now: it is not shown again.';

const operation = operator();

export const addKeys = resource({
  name: 'keys',
  description: 'API keys of stores',
  examples: ['florin keys create store_01… --name "Web server"', 'florin keys rotate key_01… --overlap 24h'],
  operations: [
    operation('create <store>', 'Make an API key and its secret key for a reviewed and enabled store', {
      examples: [
        'florin keys create store_01… --name "Web server"',
        'florin keys create store_01… --name Reports --validity-days 90 --scopes read',
      ],
      options: {
        name: required(text('--name <name>', 'what it is for')),
        validityDays: preset(
          parsed('--validity-days <days>', 'days until it expires; 0: never', parseWhole),
          0,
        ),
        scopes: preset(text('--scopes <list>', 'what it may do'), ALL_SCOPES),
        owner: text(
          '--owner <name>',
          'the registered approver who holds it, and so approves nothing that it created, edited or submitted',
        ),
      },
      run: ({ keys }, { scopes, ...key }) =>
        keys.create({ ...key, scopes: scopes.split(',').map((scope) => scope.trim()) }),
      note: SHOWN_ONCE,
    }),
    operation('list', 'List API keys by the end of each; secrets are never shown', {
      options: { merchant: text('--merchant <id>', 'of this merchant alone') },
      run: ({ keys }, { merchant }) => keys.list(merchant),
    }),
    operation('rotate <key>', 'Give a key a new secret; the API key stays', {
      examples: ['florin keys rotate key_01…', 'florin keys rotate key_01… --overlap 0'],
      options: { overlap: overlap('how long the old secret is good too') },
      run: ({ keys }, { key, overlap }) => keys.rotate(key, overlap),
      note: SHOWN_ONCE,
    }),
    operation(
      'revoke <key>',
      'End a key for good: requests with it are 401 from now on',
      ({ keys }, { key }) => keys.revoke(key),
    ),
  ],
});
