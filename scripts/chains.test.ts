import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { type Address, address, createSolanaRpc } from '@solana/kit';
import { TronWeb } from 'tronweb';
import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { BatchPayout, TestUSDC, TestUSDT } from '../contracts/artifacts/index.ts';
import { parseNetworks } from '../packages/server/src/chains/evm/networks-file.ts';
import { tokenAddress } from '../test/nodes/solana-client.ts';
import { findAnvil, NO_ANVIL } from './anvil.ts';
import { connect, PAYER, PAYER_FUNDS } from './local-chain.ts';
import {
  type LocalEntry,
  type LocalNetworks,
  readNetworksFile,
  removeNetworksFile,
  writeNetworksFile,
} from './networks-file.ts';
import { ROOT } from './step.ts';

const SCRIPT = path.join(ROOT, 'scripts/chains.ts');
const folder = mkdtempSync(path.join(tmpdir(), 'florin-chains-'));
const file = path.join(folder, 'made/networks.json');
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const FREE_PORTS = ['--port', '0', '--solana-port', '0', '--tron-port', '0'];

function run(...args: string[]) {
  const { status, stdout, stderr } = spawnSync(process.execPath, [SCRIPT, ...args], {
    encoding: 'utf8',
    cwd: ROOT,
  });
  return { status, stdout, stderr };
}

describe('what npm run chains refuses, each in one line', () => {
  const foreign = path.join(folder, 'mine.json');
  writeFileSync(foreign, '{"networks":{"erc20":{"chain_id":1}}}');
  const missing = path.join(folder, 'missing.json');
  const REFUSED: [args: string[], line: RegExp][] = [
    [['--port', '65536'], /^chains: --port takes a whole number from 0 to 65535, not "65536"\n$/],
    [['--solana-port', 'x'], /^chains: --solana-port takes a whole number from 0 to 65535, not "x"\n$/],
    [['--block-time', '0.5'], /^chains: --block-time takes a whole number from 1 to 3600, not "0.5"\n$/],
    [['--slots-in-an-epoch', '0'], /^chains: --slots-in-an-epoch takes .*\n$/],
    [['--host', '0.0.0.0'], /^chains: Unknown option '--host'.*\(--help\)\n$/],
    [['stop'], /^chains: there is no "stop" \(--help\)\n$/],
    [
      ['--file', foreign, '--port', '0'],
      /^chains: .*mine\.json was not written by npm run chains and is not overwritten.*\n$/,
    ],
    [['mine', '--file', missing], /^chains: .*missing\.json does not exist: start npm run chains first.*\n$/],
    [['mine', '--file', foreign], /^chains: .*mine\.json was not written by npm run chains\n$/],
    [['pay', '--to', '0x12', '--amount', '1'], /^chains: --to takes an address such as .*, not "0x12"\n$/],
    [
      ['pay', '--to', PAYER.address, '--amount', '1.1234567'],
      /^chains: --amount takes a number such as 12\.34.*\n$/,
    ],
    [['pay', '--page', 'ftp://x'], /^chains: --page takes the address of a payer's page .*\n$/],
    [
      ['pay', '--page', 'http://127.0.0.1:9/checkout/x'],
      /^chains: nothing answers at http:\/\/127\.0\.0\.1:9: is the store running\?\n$/,
    ],
    [
      ['pay', '--page', 'http://127.0.0.1:9/checkout/x', '--network', 'btc'],
      /^chains: --network takes erc20, trc20, spl, not "btc"\n$/,
    ],
    [['approve', '--amount', '1', '--network', 'spl'], /^chains: there is no Collector on Solana.*\n$/],
    [['fund', '--file', missing], /^chains: --tank is missing: .*\n$/],
    [['--tank', '0x12', '--port', '0'], /^chains: --tank takes the gas tank's address.*, not "0x12"\n$/],
    [
      ['pay', '--to', PAYER.address, '--amount', '1', '--token', 'DAI'],
      /^chains: --token takes USDT or USDC.*\n$/,
    ],
  ];
  for (const [args, line] of REFUSED) {
    test(`${args.map((one) => path.basename(one)).join(' ')}`, () => {
      const { status, stdout, stderr } = run(...args);
      expect(stderr).toMatch(line);
      expect([status, stdout]).toEqual([1, '']);
    });
  }

  test('somebody else keeps the file', () => {
    expect(readFileSync(foreign, 'utf8')).toBe('{"networks":{"erc20":{"chain_id":1}}}');
  });
});

test('--help prints every option', () => {
  const { status, stdout } = run('--help');
  expect(status).toBe(0);
  for (const option of [
    'port',
    'solana-port',
    'tron-port',
    'block-time',
    'by-hand',
    'slots-in-an-epoch',
    'file',
    'json',
    'tank',
    'page',
    'to',
    'network',
    'amount',
    'token',
    'blocks',
  ]) {
    expect(stdout).toContain(`--${option} `);
  }
});

const there = findAnvil() !== undefined;
if (!there) console.log(`skipped: ${NO_ANVIL}`);

describe.skipIf(!there)('npm run chains, with blocks by hand', () => {
  let node: ChildProcess;
  let printed = '';
  let networks: LocalNetworks;
  let network: LocalEntry;

  beforeAll(async () => {
    node = spawn(process.execPath, [SCRIPT, ...FREE_PORTS, '--by-hand', '--file', file, '--json'], {
      cwd: ROOT,
    });
    node.stdout?.on('data', (chunk: Buffer) => {
      printed += chunk.toString();
    });
    await vi.waitUntil(() => printed.endsWith('}\n'), { timeout: 50_000, interval: 100 });
    networks = readNetworksFile(file);
    network = networks.erc20;
  });
  afterAll(() => node?.kill('SIGKILL'));

  test('the file names the chain, tokens and contracts that are there', async () => {
    const client = connect(network.endpoints[0].url);
    expect(JSON.parse(printed)).toMatchObject({ file, networks });
    expect(parseNetworks(readFileSync(file, 'utf8')).mistakes).toEqual([]);
    expect(await client.getChainId()).toBe(network.chain_id);
    expect((await client.getBlock({ blockNumber: 0n })).hash).toBe(network.genesis_hash);
    for (const [symbol, { address, decimals }] of Object.entries(network.tokens)) {
      const token = { address, abi: TestUSDT.abi } as const;
      expect(await client.readContract({ ...token, functionName: 'symbol' })).toBe(symbol);
      expect(Number(await client.readContract({ ...token, functionName: 'decimals' }))).toBe(decimals);
      // As of the newest final block: nothing of it is still on its way.
      const held = {
        ...token,
        functionName: 'balanceOf',
        args: [PAYER.address],
        blockTag: 'finalized',
      } as const;
      expect(await client.readContract(held)).toBe(PAYER_FUNDS);
    }
    const { address } = network.tokens.USDC;
    expect(await client.readContract({ address, abi: TestUSDC.abi, functionName: 'version' })).toBe('2');
    const paid = {
      address: network.contracts.batch_payout,
      abi: BatchPayout.abi,
      functionName: 'isPaid',
    } as const;
    expect(await client.readContract({ ...paid, args: [PAYER.address, network.genesis_hash, 0n] })).toBe(
      false,
    );
    for (const address of [network.contracts.sweeper, network.contracts.collector])
      expect(await client.getCode({ address })).toBeDefined();
  });

  test('beside it a Solana has final tokens and a payer with funds', async () => {
    const { solana_payer: payer } = JSON.parse(printed) as { solana_payer: { address: Address } };
    const { endpoints, genesis_hash, tokens } = networks.spl;
    const { url } = endpoints[0];
    const rpc = createSolanaRpc(url);
    expect(await rpc.getGenesisHash().send()).toBe(genesis_hash);
    const held = async (mint: Address) =>
      (await rpc.getTokenAccountBalance(await tokenAddress(payer.address, mint)).send()).value.amount;
    for (const token of Object.values(tokens))
      expect(await held(address(token.address))).toBe(PAYER_FUNDS.toString());
    expect((await rpc.getBalance(payer.address).send()).value).toBe(100_000_000_000n);
    const { status, stderr } = run(...FREE_PORTS, '--solana-port', new URL(url).port, '--file', file);
    expect(status).toBe(1);
    expect(stderr).toBe(`chains: port ${new URL(url).port} is taken: give another --solana-port\n`);
  });

  test('and a Tron has solid tokens and a payer with funds', async () => {
    const { tron_payer: payer } = JSON.parse(printed) as { tron_payer: { address: string } };
    const { endpoints, genesis_hash, tokens, contracts } = networks.trc20;
    const tronWeb = new TronWeb({ fullHost: endpoints[0].url });
    expect((await tronWeb.trx.getBlockByNumber(0)).blockID).toBe(genesis_hash);
    const { address } = payer;
    for (const token of Object.values(tokens)) {
      const held = await tronWeb.transactionBuilder.triggerConfirmedConstantContract(
        token.address,
        'balanceOf(address)',
        {},
        [{ type: 'address', value: address }],
        address,
      );
      expect(BigInt(`0x${held.constant_result[0]}`)).toBe(PAYER_FUNDS);
    }
    expect((await tronWeb.trx.getContract(contracts.collector)).name).toBe('Collector');
    expect(await tronWeb.trx.getBalance(address)).toBe(100_000_000_000);
    const { timestamp } = (await tronWeb.trx.getCurrentBlock()).block_header.raw_data;
    expect(Math.abs(Date.now() - timestamp)).toBeLessThan(600_000);
  });

  test('a gas tank that is named later gets ether and its own Sweeper', async () => {
    const tank = '0x00000000000000000000000000000000000A11cE';
    const { sweeper: before } = network.contracts;
    const { status, stdout } = run('fund', '--tank', tank, '--file', file, '--json');
    expect(status).toBe(0);
    const { sweeper } = readNetworksFile(file).erc20.contracts;
    expect(JSON.parse(stdout)).toEqual({ tank, network: 'erc20', balance: '10', sweeper });
    expect(sweeper).not.toBe(before);
    const client = connect(network.endpoints[0].url);
    expect(await client.getCode({ address: sweeper })).toBeDefined();
    expect(await client.getAutomine()).toBe(false);
  });

  test("wallets of Tron and Solana pay by their address, and gas tanks get their network's coin", () => {
    const { tron_payer: tron, solana_payer: solana } = JSON.parse(printed) as {
      [payer: string]: { address: string };
    };
    for (const [network, to = ''] of [
      ['trc20', tron?.address],
      ['spl', solana?.address],
    ]) {
      const sent = run('pay', '--to', to, '--amount', '1.5', '--file', file, '--json');
      expect(sent).toMatchObject({ status: 0, stderr: '' });
      expect(JSON.parse(sent.stdout)).toMatchObject({ network, amount: '1.5', to, token: 'USDT' });
    }
    const tank = 'TUEZSdKsoDHQMeZwihtdoBiN46zxhGWYdH';
    const given = run('fund', '--tank', tank, '--file', file, '--json');
    expect(JSON.parse(given.stdout)).toEqual({ tank, network: 'trc20', balance: '5000' });
    const payer = 'GsbwXfJraMomNxBcjYLcG3mxkBUiyWXAB32fGbSMQRdW';
    const paid = run('fund', '--tank', payer, '--file', file, '--json');
    expect(JSON.parse(paid.stdout)).toEqual({ tank: payer, network: 'spl', balance: '5' });
    const allowed = run('approve', '--amount', '2', '--network', 'trc20', '--file', file, '--json');
    expect(JSON.parse(allowed.stdout)).toMatchObject({
      network: 'trc20',
      spender: networks.trc20.contracts.collector,
    });
  });

  test('a payment waits for a block that is mined by hand, and is final four blocks later', async () => {
    const to = '0x00000000000000000000000000000000000a11ce';
    const sent = run('pay', '--to', to, '--amount', '12.34', '--token', 'USDC', '--file', file, '--json');
    expect(sent).toMatchObject({ status: 0, stderr: '' });
    const { tx_id } = JSON.parse(sent.stdout) as { tx_id: `0x${string}` };
    const client = connect(network.endpoints[0].url);
    await expect(client.getTransactionReceipt({ hash: tx_id })).rejects.toThrow('could not be found');
    const { height } = JSON.parse(run('mine', '--file', file, '--json').stdout) as { height: number };
    expect((await client.getTransactionReceipt({ hash: tx_id })).blockNumber).toBe(BigInt(height));
    run('mine', '--blocks', '4', '--file', file);
    expect((await client.getBlock({ blockTag: 'finalized' })).number).toBe(BigInt(height));
  });

  test('the payer approves what the Collector may take, another sum by way of 0', async () => {
    for (const amount of ['1', '5.5']) {
      const { status, stdout } = run('approve', '--amount', amount, '--file', file, '--json');
      expect(status).toBe(0);
      expect(JSON.parse(stdout)).toMatchObject({
        amount,
        token: 'USDT',
        spender: network.contracts.collector,
      });
      run('mine', '--file', file);
    }
    const allowance = await connect(network.endpoints[0].url).readContract({
      address: network.tokens.USDT.address,
      abi: TestUSDT.abi,
      functionName: 'allowance',
      args: [PAYER.address, network.contracts.collector],
    });
    expect(allowance).toBe(5_500_000n);
  });

  test('more than the payer has is refused in one line', () => {
    const { status, stderr } = run(
      'pay',
      '--to',
      PAYER.address,
      '--amount',
      '9000000',
      '--token',
      'USDC',
      '--file',
      file,
    );
    expect(status).toBe(1);
    expect(stderr).toMatch(/^chains: .*exceeds balance.*\n$/);
  });

  test('a port that is taken is refused in one line, and the file stays', async () => {
    const taken = createServer().listen(0, '127.0.0.1');
    await new Promise((resolve) => taken.once('listening', resolve));
    const address = taken.address();
    const port = typeof address === 'object' ? String(address?.port) : '';
    const { status, stderr } = run('--port', port, '--file', file);
    taken.close();
    expect(status).toBe(1);
    expect(stderr).toBe(`chains: port ${port} is taken: give another --port\n`);
    expect(existsSync(file)).toBe(true);
  });

  test('Ctrl-C ends the node, removes the file and exits with 0', async () => {
    const ended = new Promise((resolve) => node.once('close', resolve));
    node.kill('SIGINT');
    node.kill('SIGINT');
    expect(await ended).toBe(0);
    expect(existsSync(file)).toBe(false);
    await expect(connect(network.endpoints[0].url).getChainId()).rejects.toThrow('HTTP request failed');
    const { stderr } = run('mine', '--file', file);
    expect(stderr).toContain('does not exist');
  });

  test("a later node's file is not removed by an earlier one", () => {
    writeNetworksFile(file, { ...networks, erc20: { ...network, genesis_hash: '0x01' } });
    removeNetworksFile(file, networks);
    expect(readNetworksFile(file).erc20.genesis_hash).toBe('0x01');
    expect(run('mine', '--file', file).stderr).toMatch(/^chains: nothing answers at .*\n$/);
  });
});
