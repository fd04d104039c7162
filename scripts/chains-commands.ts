import path from 'node:path';
import { type Address, formatEther, getAddress, isAddress, parseUnits } from 'viem';
import { TestUSDT } from '../contracts/artifacts/index.ts';
import { checkAddress } from '../packages/server/src/chains/addresses/check.ts';
import { type Options, Refused, wholeNumber } from './chains-options.ts';
import { by, connect, fundTank, OWNER, PAYER } from './local-chain.ts';
import { type LocalNetworks, readNetworksFile, writeNetworksFile } from './networks-file.ts';
import { type Asked, askPage } from './pay-page.ts';

type Network = keyof LocalNetworks;
type Token = 'USDT' | 'USDC';

const NETWORKS: readonly Network[] = ['erc20', 'trc20', 'spl'];
const AMOUNT = /^\d{1,12}(\.\d{1,6})?$/;
const NO_AMOUNT = '--amount is missing: a number such as 12.34';

/** The nodes of the networks file, if they still are those that the file was written for. */
async function running({ file }: Options) {
  const networks = readNetworksFile(path.resolve(file));
  const { endpoints, genesis_hash } = networks.erc20;
  const client = connect(endpoints[0].url);
  const genesis = await client.getBlock({ blockNumber: 0n }).catch(() => undefined);
  if (genesis === undefined)
    throw new Refused(`nothing answers at ${endpoints[0].url}: start npm run chains`);
  // The three start and end together.
  if (genesis.hash !== genesis_hash)
    throw new Refused(`${endpoints[0].url} is another chain than that of ${file}`);
  return { networks, client };
}

// Libraries of networks take a second to load each: whoever pays on one waits for none of the others.
const tron = async () => await import('./local-tron.ts');
const solana = async () => await import('./local-solana.ts');

function isAddressOn(network: Network, text: string): boolean {
  return checkAddress(network, text, { allowProgramOwned: true }).ok;
}

/** An address of Tron is none of Solana, as 25 bytes are not 32. */
function networkOf(address: string): Network | undefined {
  return NETWORKS.find((network) => isAddressOn(network, address));
}

/** Of Ethereum. */
export function gasTank(text: string): Address {
  if (isAddress(text)) return getAddress(text);
  throw new Refused(`--tank takes the gas tank's address, which florin signer init shows, not "${text}"`);
}

async function fund(options: Options): Promise<void> {
  const { tank } = options;
  if (tank === undefined) throw new Refused('--tank is missing: the address that florin signer init shows');
  const network = networkOf(tank);
  if (network === undefined || network === 'erc20') return await fundEthereum(options, gasTank(tank));
  const { networks } = await running(options);
  const [coin, balance] =
    network === 'trc20'
      ? ['TRX', await (await tron()).fundOnTron(networks.trc20, tank)]
      : ['SOL', await (await solana()).fundOnSolana(networks.spl, tank)];
  if (options.json) console.log(JSON.stringify({ tank, network, balance }));
  else console.log(`The gas tank ${tank} has ${balance} ${coin}.`);
}

async function fundEthereum(options: Options, tank: Address): Promise<void> {
  const { networks, client } = await running(options);
  const sweeper = await fundTank(client, tank);
  const { erc20 } = networks;
  const changed = { ...erc20, contracts: { ...erc20.contracts, sweeper } };
  writeNetworksFile(path.resolve(options.file), { ...networks, erc20: changed });
  const balance = formatEther(await client.getBalance({ address: tank }));
  if (options.json) console.log(JSON.stringify({ tank, network: 'erc20', balance, sweeper }));
  else
    console.log(
      `The gas tank ${tank} has ${balance} ether; its Sweeper ${sweeper} stands in ${options.file}. ` +
        'Servers that run already must be started again.',
    );
}

function tokenOf({ amount, token }: Options): Token {
  if (amount !== undefined && !AMOUNT.test(amount))
    throw new Refused(`--amount takes a number such as 12.34, not "${amount}"`);
  if (token === 'USDT' || token === 'USDC') return token;
  throw new Refused(`--token takes USDT or USDC, not "${token}"`);
}

function chosenNetwork({ network = 'erc20' }: Options): Network {
  const chosen = NETWORKS.find((one) => one === network);
  if (chosen === undefined) throw new Refused(`--network takes ${NETWORKS.join(', ')}, not "${network}"`);
  return chosen;
}

/** @returns whom to pay, where and how much */
async function recipientOf(options: Options, token: Token): Promise<Asked & { network: Network }> {
  const { page, to = '', amount } = options;
  if (page !== undefined) {
    const network = chosenNetwork(options);
    const asked = await askPage(page, { token, network, isAddress: (text) => isAddressOn(network, text) });
    return { network, to: asked.to, amount: amount ?? asked.amount };
  }
  const network = networkOf(to);
  if (network === undefined) throw new Refused(`--to takes an address such as ${OWNER.address}, not "${to}"`);
  if (amount === undefined) throw new Refused(NO_AMOUNT);
  return { network, to, amount };
}

async function pay(options: Options): Promise<void> {
  const token = tokenOf(options);
  const { network, to, amount } = await recipientOf(options, token);
  const { networks, client } = await running(options);
  const units = parseUnits(amount, 6);
  const id = await {
    erc20: () =>
      client.writeContract({
        ...by(PAYER),
        address: networks.erc20.tokens[token].address,
        abi: TestUSDT.abi,
        functionName: 'transfer',
        args: [getAddress(to), units],
      }),
    trc20: async () => await (await tron()).payOnTron(networks.trc20, token, to, units),
    spl: async () => await (await solana()).payOnSolana(networks.spl, token, to, units),
  }[network]();
  if (options.json) console.log(JSON.stringify({ tx_id: id, network, token, amount, to }));
  else console.log(`${amount} ${token} to ${to}: ${id}`);
}

async function approve(options: Options): Promise<void> {
  const token = tokenOf(options);
  const { amount } = options;
  if (amount === undefined) throw new Refused(NO_AMOUNT);
  const network = chosenNetwork(options);
  if (network === 'spl')
    throw new Refused('there is no Collector on Solana: the payer approves on the page of a subscription');
  const { networks, client } = await running(options);
  const spender = networks[network].contracts.collector;
  const units = parseUnits(amount, 6);
  const id =
    network === 'trc20'
      ? await (await tron()).approveOnTron(networks.trc20, token, units)
      : await approveOnEthereum(client, networks.erc20, token, units);
  if (options.json) console.log(JSON.stringify({ tx_id: id, network, token, amount, spender }));
  else console.log(`The payer approves ${amount} ${token} to ${spender}: ${id}`);
}

/** USDT goes from one approval to another by way of 0. */
async function approveOnEthereum(
  client: ReturnType<typeof connect>,
  { tokens, contracts }: LocalNetworks['erc20'],
  token: Token,
  units: bigint,
): Promise<string> {
  // With a limit of its own: an estimate would not know of the call before it.
  const call = { ...by(PAYER, 100_000n), address: tokens[token].address, abi: TestUSDT.abi };
  const approveOf = (most: bigint) =>
    client.writeContract({ ...call, functionName: 'approve', args: [contracts.collector, most] });
  if (token === 'USDT' && units > 0n) await approveOf(0n);
  return await approveOf(units);
}

async function mine(options: Options): Promise<void> {
  const blocks = wholeNumber('blocks', options.blocks, [1, 10_000]);
  const { client } = await running(options);
  await client.mine({ blocks });
  const height = await client.getBlockNumber();
  console.log(options.json ? JSON.stringify({ height: Number(height) }) : `block ${height}`);
}

/** What is done with nodes that run already. */
export const COMMANDS: Record<string, (options: Options) => Promise<void>> = { fund, pay, approve, mine };
