import { NETWORKS } from '@florin/contract/money';
import { type CheckoutView, NETWORK_NAMES, renderPage, type StoreFace } from '@florin/pages';
import Type, { type Static } from 'typebox';
import { type PaymentDeps, parseOption, paymentSettings } from '../../payments/index.ts';
import { NIL_ID } from '../../platform/db/ids/index.ts';
import { Fail } from '../../platform/fail.ts';
import { defineRoute, type Route, type RouteRequest } from '../../platform/http/index.ts';
import { type BrandChange, changeBrand, previewBrand } from '../../stores/branding/index.ts';
import { getStore } from '../../stores/index.ts';
import { decodeId } from '../../tenancy/index.ts';
import type { ConsoleDeps } from '../accounts/index.ts';
import { ALL_SETTINGS, describeSettings, settingTexts } from '../settings/index.ts';
import { needs } from './own.ts';
import { presentStore, StoreSchema } from './store-routes.ts';

export type BrandDeps = ConsoleDeps & Pick<PaymentDeps, 'chains'>;

const PATH = '/console/api/merchants/{merchant_id}/stores/{store_id}';
const common = { scope: 'read' as const, tag: 'Stores', permission: needs('edit_stores') };
const Store = Type.Object({ merchant_id: Type.String(), store_id: Type.String() });
const TextOrNull = (maxLength: number) => Type.Union([Type.String({ maxLength }), Type.Null()]);
/** 100 kB in base64, and some more for the refusal in words. */
const LOGO_TEXT_MAX = 140_000;
/** The other fields are short. */
const bodyBytesMax = LOGO_TEXT_MAX + 20_000;

const BRAND = {
  name: Type.String({ maxLength: 256 }),
  accent: TextOrNull(64),
  support: TextOrNull(1_000),
  terms: TextOrNull(1_000),
};
const ChangeSchema = Type.Object({
  ...BRAND,
  logo: Type.Optional(
    Type.Union([Type.String({ maxLength: LOGO_TEXT_MAX }), Type.Null()], {
      description:
        'The bytes of a PNG or SVG in base64; null takes the logo away, without it the logo stays.',
    }),
  ),
});
/** Pages of payers that a preview shows: on the first one somebody chooses how to pay, the last one has its button. */
const SAMPLES = ['choose', 'paid'] as const;
const SeenSchema = Type.Object({ ...BRAND, logo_id: TextOrNull(64) });

/** Settings that say what holds for the payers and the money of a merchant, by their modules. */
const OF_MERCHANTS = ['checkout.', 'payouts.', 'refunds.', 'subscriptions.', 'webhooks.'];

const storeOf = ({
  caller,
  params,
}: Pick<RouteRequest<unknown, unknown, unknown>, 'caller'> & { params: { store_id: string } }) => ({
  merchantId: caller.merchantId,
  storeId: decodeId('store', params.store_id) ?? NIL_ID,
});

function bytesOf(text: string): Buffer {
  const bytes = Buffer.from(text, 'base64');
  // Node skips what is no base64.
  if (bytes.toString('base64') === text) return bytes;
  throw new Fail('invalid_request', { message: 'logo must be base64.', param: 'logo' });
}

const changeOf = ({ logo, ...change }: Static<typeof ChangeSchema>): BrandChange => ({
  ...change,
  ...(logo === undefined ? {} : { logo: logo === null ? null : bytesOf(logo) }),
});

type Brand = Awaited<ReturnType<typeof changeBrand>>;

const shownOf = ({
  name,
  accent,
  support,
  terms_url: terms,
  logo_id,
}: Omit<Brand, 'logo_width' | 'logo_height'>) => ({
  name,
  accent,
  support,
  terms,
  logo_id,
});

/** How a store presents itself, as the page and the audit log have it. */
export async function presentBrand({ db }: ConsoleDeps, store: { merchantId: string; storeId: string }) {
  return shownOf(await getStore(db, store.merchantId, store.storeId));
}

interface Sample {
  tokens: readonly string[];
  isTest: boolean;
  state: (typeof SAMPLES)[number];
}

/** A page of a payer, of an order that nobody has made. */
const samplePage = ({ storeName, brand }: StoreFace, { tokens, isTest, state }: Sample): CheckoutView => ({
  language: 'en',
  state,
  storeName,
  brand,
  description: 'An example: two of something',
  orderId: 'EXAMPLE-1',
  period: null,
  price: '$49.00',
  isTest,
  // Without what plays the payer.
  isSimulated: false,
  options: tokens.flatMap((text) => {
    const option = parseOption(text);
    if (option === undefined) return [];
    const { currency: token, network } = option;
    return [
      {
        value: text,
        token,
        network,
        networkName: NETWORK_NAMES[network],
        hint: isTest ? 'test' : network,
        amount: `49.00 ${token}`,
      },
    ];
  }),
  canChoose: true,
  due: null,
  confirmations: null,
  notices: [],
  secondsLeft: 1_800,
  secondsTotal: 1_800,
  rateSecondsLeft: null,
  details: null,
  returnUrl: 'https://shop.example/',
});

const retrieval = (deps: BrandDeps): Route =>
  defineRoute({
    ...common,
    method: 'GET',
    path: PATH,
    operationId: 'retrieveStore',
    summary:
      'A store: its review, how it presents itself, in what payers may pay, and the rules that hold for it',
    params: Store,
    answer: Type.Object({
      ...StoreSchema.properties,
      ...SeenSchema.properties,
      payment_methods: Type.Array(
        Type.Object({ token: Type.String(), network: Type.String({ enum: [...NETWORKS] }) }),
        { description: 'What this installation has a node for, of what the merchant takes.' },
      ),
      rules: Type.Array(
        Type.Object({ name: Type.String(), description: Type.String(), value: Type.String() }),
        { description: 'Limits and fees of the merchant, which the operator changes.' },
      ),
    }),
    refusals: ['resource_not_found'],
    handle: async (request) => {
      const { merchantId, mode } = request.caller;
      const { storeId } = storeOf(request);
      const row = await getStore(deps.db, merchantId, storeId);
      const settings = ALL_SETTINGS.filter(({ name }) =>
        OF_MERCHANTS.some((module) => name.startsWith(module)),
      );
      const [{ tokens }, rules] = await Promise.all([
        paymentSettings(deps, { merchantId, mode }),
        describeSettings(deps.db, { merchantId, mode }, settings),
      ]);
      return {
        body: {
          ...presentStore(row),
          ...shownOf(row),
          payment_methods: tokens.flatMap((text) => {
            const option = parseOption(text);
            return option === undefined ? [] : [{ token: option.currency, network: option.network }];
          }),
          rules: rules.map((rule) => ({ ...rule, value: settingTexts(rule)[mode] })),
        },
      };
    },
  });

const changing = (deps: BrandDeps): Route =>
  defineRoute({
    ...common,
    method: 'PUT',
    path: `${PATH}/brand`,
    operationId: 'changeBrand',
    summary: 'Change how a store presents itself to payers; pages and coming mails show it at once',
    permission: needs('edit_stores', true),
    params: Store,
    bodyBytesMax,
    body: Type.Object({
      ...ChangeSchema.properties,
      seen: Type.Object(SeenSchema.properties, {
        description: 'What the page showed: where somebody changed it meanwhile, nothing is done.',
      }),
    }),
    answer: SeenSchema,
    refusals: ['conflict', 'resource_not_found'],
    handle: async (request) => {
      const { seen, ...change } = request.body;
      const { logo_id: logoId, ...shown } = seen;
      const asked = { ...changeOf(change), seen: { ...shown, logoId } };
      return { body: shownOf(await changeBrand(deps, storeOf(request), asked)) };
    },
  });

const previewing = (deps: BrandDeps): Route =>
  defineRoute({
    ...common,
    method: 'POST',
    path: `${PATH}/brand/preview`,
    operationId: 'previewBrand',
    summary: 'The page of a payer as it would be after a change; nothing is changed',
    params: Store,
    bodyBytesMax,
    body: Type.Object({
      ...ChangeSchema.properties,
      page: Type.Optional(Type.Union(SAMPLES.map((one) => Type.Literal(one)))),
    }),
    answer: Type.Object({
      html: Type.String({ description: 'A document without script; its logo is in it.' }),
    }),
    refusals: ['resource_not_found'],
    handle: async (request) => {
      const { merchantId, mode } = request.caller;
      const { page: state = 'choose', ...change } = request.body;
      const face = await previewBrand(deps, storeOf(request), changeOf(change));
      const { tokens } = await paymentSettings(deps, { merchantId, mode });
      const view = samplePage(face, { tokens, isTest: mode === 'sandbox', state });
      return { body: { html: (await renderPage({ page: 'checkout_preview', view })).html } };
    },
  });

/** What a merchant reads of its store, and changes of how it presents itself. */
export const brandRoutes = (deps: BrandDeps): Route[] => [retrieval(deps), changing(deps), previewing(deps)];
