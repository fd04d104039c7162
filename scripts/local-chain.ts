import {
  type Abi,
  type Account,
  type Address,
  bytesToHex,
  createTestClient,
  defineChain,
  encodeDeployData,
  getAddress,
  type Hex,
  http,
  parseEther,
  publicActions,
  type TransactionReceipt,
  walletActions,
} from 'viem';
import { mnemonicToAccount } from 'viem/accounts';
import { TestProxy, TestUSDC, TestUSDT } from '../contracts/artifacts/index.ts';
import {
  batchPayoutDeployment,
  collectorDeployment,
  DETERMINISTIC_DEPLOYER,
  type Deployment,
  sweeperDeployment,
} from '../packages/signer/src/contracts.ts';
import { PUBLIC_TEST_MNEMONIC } from './anvil.ts';
import type { LocalEntry } from './networks-file.ts';

/** viem's own list of chains takes seconds to load. */
const LOCAL_CHAIN = defineChain({
  id: 31_337,
  name: 'Local',
  nativeCurrency: { name: 'Ether', symbol: 'ETH', decimals: 18 },
  rpcUrls: { default: { http: [] } },
});

/** One of anvil's ten published accounts with 10,000 ether each; from 10 on they have none. */
export function testAccount(index: number) {
  return mnemonicToAccount(PUBLIC_TEST_MNEMONIC, { addressIndex: index });
}

/** Deploys all, and owns the test tokens: mints, pauses, blacklists. */
export const OWNER = testAccount(0);
export const PAYER = testAccount(1);
/** Calls the `Sweeper` while no gas tank is named. */
export const OPERATOR = testAccount(2);
/** May exchange USDC's code, and can call nothing else of it. */
const PROXY_ADMIN = testAccount(9);

/** Each token of the payer's wallet, with 6 decimals: 1,000,000.00. */
export const PAYER_FUNDS = 1_000_000_000_000n;

/** What a gas tank is given: enough for weeks of trying. */
const TANK_FUNDS = parseEther('10');

export type LocalClient = ReturnType<typeof connect>;

export function connect(url: string) {
  return createTestClient({
    mode: 'anvil',
    chain: LOCAL_CHAIN,
    transport: http(url, { batch: true, retryCount: 0, timeout: 60_000 }),
    pollingInterval: 20,
    cacheTime: 0,
  })
    .extend(publicActions)
    .extend(walletActions);
}

/** As a write's options: without a limit of its own it is estimated first, and throws where it would revert. */
export function by(sender: Account, gas?: bigint) {
  return { account: sender, chain: LOCAL_CHAIN, ...(gas !== undefined && { gas }) };
}

/** The receipt of a transaction that was sent, also of one that reverted. */
export async function mined(client: LocalClient, sent: Promise<Hex>): Promise<TransactionReceipt> {
  return await client.waitForTransactionReceipt({ hash: await sent });
}

/** By `OWNER`: the address follows from its count of transactions alone. */
export async function deploy(
  client: LocalClient,
  { abi, bytecode }: { abi: Abi; bytecode: Hex },
  args: readonly unknown[] = [],
): Promise<Address> {
  const data = encodeDeployData({ abi, bytecode, args });
  const { contractAddress } = await mined(client, client.sendTransaction({ ...by(OWNER), data }));
  if (contractAddress == null) throw new Error('the contract was not deployed');
  return getAddress(contractAddress);
}

/** In a block of its own: whichever way the node makes blocks, it goes on so. */
async function minedNow(client: LocalClient, sent: Promise<Hex>): Promise<void> {
  const hash = await sent;
  await client.mine({ blocks: 1 });
  await client.waitForTransactionReceipt({ hash });
}

/** Ours, where the signer computes them: once, however often it is called. */
async function deployOurs(client: LocalClient, { address, data }: Deployment): Promise<Address> {
  const at = getAddress(address);
  if ((await client.getCode({ address: at })) === undefined) {
    const call = { to: getAddress(DETERMINISTIC_DEPLOYER), data: bytesToHex(data) };
    await minedNow(client, client.sendTransaction({ ...by(OWNER), ...call }));
  }
  return at;
}

/** Gives a signer's gas tank ether, and the chain the `Sweeper` that only this tank may call. */
export async function fundTank(client: LocalClient, tank: Address): Promise<Address> {
  const sweeper = await deployOurs(client, sweeperDeployment(tank));
  await minedNow(client, client.sendTransaction({ ...by(PAYER), to: tank, value: TANK_FUNDS }));
  return sweeper;
}

/** Behind its proxy, as the real one. */
export async function deployUsdc(client: LocalClient): Promise<Address> {
  const code = await deploy(client, TestUSDC);
  const address = await deploy(client, TestProxy, [code, PROXY_ADMIN.address]);
  await mined(
    client,
    client.writeContract({
      ...by(OWNER),
      address,
      abi: TestUSDC.abi,
      functionName: 'initialize',
      args: [OWNER.address],
    }),
  );
  return address;
}

/**
 * Puts tokens and contracts on a fresh node that mines a block for each transaction, and funds the payer. Addresses are
 * the same on every fresh node, the genesis hash is not. Everything is final when it returns.
 */
export async function furnish(url: string, slotsInAnEpoch: number, tank?: Address): Promise<LocalEntry> {
  const client = connect(url);
  const usdt = await deploy(client, TestUSDT);
  const usdc = await deployUsdc(client);
  const batchPayout = await deployOurs(client, batchPayoutDeployment());
  const collector = await deployOurs(client, collectorDeployment());
  const sweeper =
    tank === undefined
      ? await deployOurs(client, sweeperDeployment(OPERATOR.address))
      : await fundTank(client, tank);
  for (const address of [usdt, usdc]) {
    const mint = { address, abi: TestUSDT.abi, functionName: 'mint' } as const;
    await mined(client, client.writeContract({ ...by(OWNER), ...mint, args: [PAYER.address, PAYER_FUNDS] }));
  }
  await client.mine({ blocks: 2 * slotsInAnEpoch });
  const genesis = await client.getBlock({ blockNumber: 0n });
  return {
    name: 'Ethereum (local node)',
    test: true,
    endpoints: [{ url, own: true }],
    chain_id: LOCAL_CHAIN.id,
    public_endpoint: url,
    genesis_hash: genesis.hash,
    tokens: { USDT: { address: usdt, decimals: 6 }, USDC: { address: usdc, decimals: 6 } },
    contracts: { batch_payout: batchPayout, sweeper, collector },
    finality: { tag: 'finalized', early_confirmations: 12 },
    fee_ceilings: {
      max_fee_per_gas: '200000000000',
      max_priority_fee_per_gas: '10000000000',
      gas_per_transaction: 16_777_216,
    },
    explorer: null,
  };
}
