import { address } from '@solana/kit';
import { MarkTable } from '../../../packages/server/src/chains/solana/mark-table.ts';
import { connect } from '../../../packages/server/src/platform/db/db.ts';
import { newId } from '../../../packages/server/src/platform/db/ids/ids.ts';
import { createDatabase } from '../../database.ts';
import { describeChain } from '../conformance.ts';
import type { ChainEnvironment } from '../conformance-environment.ts';
import { FINAL_BLOCKS, SolanaEnvironment } from './environment.ts';
import { LosingNode } from './losing-node.ts';

describeChain('Solana', openSolana);

async function openSolana(): Promise<ChainEnvironment> {
  const local = await SolanaEnvironment.start();
  const { node: backend } = local;
  const { endpoint, controls } = backend;
  const rpc = local.endpoints();
  const node = new LosingNode(rpc);
  const rejecting = local.wallet('a recipient whose account is frozen');
  await local.give('USDC', rejecting, 0n);
  await controls.freeze(local.mint('USDC'), address(rejecting));
  const database = await createDatabase();
  const db = connect({ url: database.url, poolSize: 4 });
  const marks = new MarkTable(db, newId());
  const chain = local.open(node, { marks });
  const hot = await chain.sender('hot');
  // As a process keeps them.
  const wallets = new Map<number, typeof chain>();
  const recipient = (number: number) => local.wallet(`recipient ${number}`);
  return {
    chain,
    holder: local.signer,
    keyRef: 'hot',
    asset: 'USDC',
    seesUnlisted: false,
    wallet: async (number) => {
      const opened = wallets.get(number) ?? local.open(node, { account: 1_000 + number });
      wallets.set(number, opened);
      return { chain: opened, keyRef: 'hot' };
    },
    fund: async (asset, amount) => {
      await local.give(asset, hot, amount);
      local.mine(FINAL_BLOCKS);
    },
    recipient,
    rejecting,
    mine: async (blocks) => local.mine(blocks),
    finalBlocks: FINAL_BLOCKS,
    expire: async () => local.mine(152 + FINAL_BLOCKS),
    reorg: async (depth, options) => local.reorg(depth, options),
    dropNext: async () => {
      endpoint.view.dropTransactions += 1;
    },
    pay: (transfers) => local.pay(transfers),
    payer: (number) => recipient(7_100 + number),
    signingPayer: (number) => recipient(7_200 + number),
    startsAt: async () => Math.floor(Date.now() / 1000),
    passUntil: async () => {},
    hold: (wallet, balance) => local.hold(wallet, balance),
    authorize: (setup) => local.authorize(setup),
    signatureOf: (mandate) => local.signatureOf(mandate),
    approve: (wallet, amount, spender) => local.approve(wallet, amount, spender),
    revoke: (mandate) => local.revoke(mandate),
    outage: async (isOn) => {
      if (isOn) endpoint.faults.plan({ how: 'down', times: Number.POSITIVE_INFINITY });
      else endpoint.faults.clear();
    },
    lag: async (blocks) => {
      endpoint.view.lag = blocks;
    },
    loseLog: async (level) => node.loseNext(level),
    close: async () => {
      await rpc.close();
      await backend.stop();
      await db.destroy();
      await database.drop();
    },
  };
}
