import { ASSETS, NETWORKS } from '@florin/contract/money';
import { SCOPES } from '@florin/contract/scopes';
import { readBalances } from '../ledger/balances/index.ts';
import {
  changeStore,
  createMerchant,
  createStore,
  findMerchant,
  listMerchants,
  listStores,
  type Merchant,
} from '../stores/index.ts';
import { createKey } from '../stores/keys/index.ts';
import { decodeId, encodeId } from '../tenancy/index.ts';
import { fund, type SandboxDeps } from './fund.ts';

/** The content of `sandbox.json`: everything for a first request. */
export interface SandboxCredentials {
  base_url: string;
  merchant_id: string;
  store_id: string;
  api_key: string;
  secret_key: string;
}

const MERCHANT_NAME = 'Sandbox';
/** 1,000,000.00 */
const SEED_UNITS = 1_000_000_000_000;

/**
 * Creates the sandbox's merchant with money, an enabled store and an API key. Everything from an earlier start is kept. If
 * `sandbox.json` is lost, the key's secret cannot be shown again, so another key is created.
 */
export async function seedSandbox(
  deps: SandboxDeps,
  baseUrl: string,
  known: SandboxCredentials | undefined,
): Promise<SandboxCredentials> {
  if (known !== undefined && (await isKnown(deps, known))) return { ...known, base_url: baseUrl };
  const merchant =
    (await findSeeded(deps)) ?? (await createMerchant(deps, { name: MERCHANT_NAME, mode: 'sandbox' }));
  const storeId = await ensureStore(deps, merchant);
  await ensureMoney(deps, merchant);
  const merchantId = merchant.merchantId;
  const key = await createKey(deps, {
    merchantId,
    storeId,
    name: 'Sandbox key',
    validityDays: 0,
    scopes: SCOPES,
  });
  return {
    base_url: baseUrl,
    merchant_id: encodeId('merchant', merchantId),
    store_id: encodeId('store', storeId),
    api_key: key.apiKey,
    secret_key: key.secretKey,
  };
}

async function isKnown(deps: SandboxDeps, known: SandboxCredentials): Promise<boolean> {
  const merchantId = decodeId('merchant', known.merchant_id);
  return merchantId !== undefined && (await findMerchant(deps.db, merchantId)) !== undefined;
}

/** Whether there is a merchant of an earlier start: somebody may use it, also where its credentials are lost. */
export const isSeeded = async (deps: SandboxDeps): Promise<boolean> => (await findSeeded(deps)) !== undefined;

async function findSeeded(deps: SandboxDeps): Promise<Merchant | undefined> {
  const merchants = await listMerchants(deps.db);
  return merchants.find((merchant) => merchant.mode === 'sandbox' && merchant.name === MERCHANT_NAME);
}

async function ensureStore(deps: SandboxDeps, merchant: Merchant): Promise<string> {
  const [first] = await listStores(deps, merchant.merchantId);
  const { merchantId } = merchant;
  const storeId =
    first?.store_id ?? (await createStore(deps, { merchantId, name: 'Sandbox store', channelType: 'api' }));
  await changeStore(deps, { merchantId, storeId }, { reviewStatus: 'approved', enabled: true });
  return storeId;
}

/** Funds each currency and network once, also after an interrupted start. */
async function ensureMoney(deps: SandboxDeps, merchant: Merchant): Promise<void> {
  const balances = await readBalances(deps.db, merchant.merchantId);
  for (const currency of ASSETS) {
    for (const network of NETWORKS) {
      const funded = balances.get(currency)?.has(`custody:${network}`) ?? false;
      if (!funded) await fund(deps, merchant, { currency, network, amount: SEED_UNITS });
    }
  }
}
