import { readFileSync } from 'node:fs';
import { attempt, wrongUsage } from '../failure.ts';
import { operator } from '../operations.ts';
import { choice, flag, overlap, preset, text } from '../options.ts';
import { resource } from '../resource.ts';

const operation = operator();
const remove = flag('--remove', 'take it away');
const same = (text: string) => text;

/** What a store is given, or null where it is taken away. */
function givenOrNull<T>(
  name: string,
  given: string | undefined,
  isRemoved: true | undefined,
  read: (text: string) => T,
): T | null {
  if ((given === undefined) === (isRemoved === undefined)) throw wrongUsage(`Give a ${name}, or --remove.`);
  return given === undefined ? null : read(given);
}

export const addStores = resource({
  name: 'stores',
  description: 'Stores of a merchant: they own the API keys',
  examples: ['florin stores create "Web shop"', 'florin stores review store_01… --approve'],
  operations: [
    operation('create <name>', 'Make a store; it can have keys once it is reviewed and enabled', {
      examples: [
        'florin stores create "Web shop"',
        'florin stores create Shop --merchant mer_01… --channel hosted',
      ],
      options: {
        merchant: text('--merchant <id>', 'its merchant; needed where there are several'),
        channelType: preset(choice('--channel <type>', 'how it sells', ['api', 'hosted']), 'api'),
      },
      run: ({ stores }, input) => stores.create(input),
    }),
    operation('list', 'List stores', {
      options: { merchant: text('--merchant <id>', 'of this merchant alone') },
      run: ({ stores }, { merchant }) => stores.list(merchant),
    }),
    operation('review <store>', 'Approve or reject a store', {
      examples: ['florin stores review store_01… --approve', 'florin stores review store_01… --reject'],
      options: {
        approve: flag('--approve', 'it may'),
        reject: flag('--reject', 'it may not: requests with its keys are 403'),
      },
      read: ({ store, approve, reject }) => {
        if (approve === reject) throw wrongUsage('Give one of --approve and --reject.');
        return { store, verdict: approve ? ('approved' as const) : ('rejected' as const) };
      },
      run: ({ stores }, { store, verdict }) => stores.review(store, verdict),
    }),
    operation('rename <store> <name>', 'Change the name that payers see', ({ stores }, { store, name }) =>
      stores.rename(store, name),
    ),
    operation(
      'logo <store> [file]',
      'Set the logo of the pages and mails for payers: a PNG or SVG of up to 100 kB',
      {
        examples: ['florin stores logo store_01… logo.svg', 'florin stores logo store_01… --remove'],
        options: { remove },
        read: ({ store, file, remove }) => ({
          store,
          logo: givenOrNull('file', file, remove, (name) =>
            attempt('file', `${name} cannot be read`, () => readFileSync(name)),
          ),
        }),
        run: ({ stores }, { store, logo }) => stores.setLogo(store, logo),
      },
    ),
    operation(
      'accent <store> [colour]',
      'Set the colour of buttons and links; where it could not be read, pages make it darker or lighter',
      {
        examples: ['florin stores accent store_01… "#0a58ca"', 'florin stores accent store_01… --remove'],
        options: { remove },
        read: ({ store, colour, remove }) => ({ store, accent: givenOrNull('colour', colour, remove, same) }),
        run: ({ stores }, { store, accent }) => stores.setAccent(store, accent),
      },
    ),
    operation(
      'support <store> [address]',
      'Set where payers reach the store: a mail address, or an https link',
      {
        examples: [
          'florin stores support store_01… help@shop.example',
          'florin stores support store_01… --remove',
        ],
        options: { remove },
        read: ({ store, address, remove }) => ({
          store,
          support: givenOrNull('address', address, remove, same),
        }),
        run: ({ stores }, { store, support }) => stores.setSupport(store, support),
      },
    ),
    operation('terms <store> [link]', "Set the https link to the store's terms", {
      examples: [
        'florin stores terms store_01… https://shop.example/terms',
        'florin stores terms store_01… --remove',
      ],
      options: { remove },
      read: ({ store, link, remove }) => ({ store, terms: givenOrNull('link', link, remove, same) }),
      run: ({ stores }, { store, terms }) => stores.setTerms(store, terms),
    }),
    operation('enable <store>', 'Switch a store on', ({ stores }, { store }) => stores.enable(store)),
    operation(
      'disable <store>',
      'Switch a store off: requests with its keys are 403',
      ({ stores }, { store }) => stores.disable(store),
    ),
    operation(
      'webhook-key <store> [key]',
      "Show or name the key whose secret signs a store's webhooks. The one before goes on signing until the overlap " +
        'ends or the merchant confirms that it knows the new secret.',
      {
        examples: [
          'florin stores webhook-key store_01…',
          'florin stores webhook-key store_01… key_01… --overlap 24h',
          'florin stores webhook-key store_01… --confirm',
        ],
        options: {
          overlap: overlap('how long the one before goes on signing'),
          confirm: flag('--confirm', 'the merchant verifies the new secret: it signs from now on'),
        },
        read: (given) => {
          if (given.confirm && given.key !== undefined) throw wrongUsage('Use a key or --confirm, not both.');
          return given;
        },
        run: ({ stores }, { store, key, overlap, confirm }) => {
          if (key !== undefined) return stores.setWebhookKey(store, key, overlap);
          return confirm ? stores.confirmWebhookKey(store) : stores.webhookKey(store);
        },
      },
    ),
  ],
});
