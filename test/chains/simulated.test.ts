import { NETWORKS } from '@florin/contract/money';
import { testAddresses } from '../../packages/server/src/chains/simulated/test-addresses.ts';
import { walletOfLabel } from '../../packages/server/src/chains/simulated/wallet.ts';
import { describeChain } from './conformance.ts';
import type { ChainEnvironment } from './conformance-environment.ts';
import { openTestChain } from './open-test-chain.ts';

for (const network of NETWORKS) {
  describeChain(`simulated ${network}`, async (): Promise<ChainEnvironment> => {
    const { chain, holder, time, close } = await openTestChain(network);
    return {
      chain,
      holder,
      keyRef: 'hot',
      asset: 'USDT',
      seesUnlisted: true,
      wallet: async (number) => ({ chain, keyRef: `deposit:${number}` }),
      fund: async (asset, amount) => void (await chain.fund(asset, amount)),
      recipient: (number) => walletOfLabel(network, `recipient ${number}`).address,
      rejecting: testAddresses(network).fail,
      mine: async (blocks) => void (await chain.mine(blocks)),
      finalBlocks: 3,
      expire: async () => {
        if (network === 'trc20') time.now += 64;
        if (network === 'spl') await chain.mine(154);
      },
      reorg: async (depth, options) => void (await chain.reorg(depth, options)),
      dropNext: () => chain.dropNext(1),
      pay: (transfers) =>
        chain.pay({
          transfers: transfers.map(({ asset, ...rest }) =>
            asset === null
              ? { ...rest, asset, token: 'a contract that calls itself USDT' }
              : { ...rest, asset },
          ),
        }),
      payer: (number) => chain.payerAddress(String(number)),
      signingPayer: (number) => chain.payerAddress(String(number)),
      startsAt: async () => time.now,
      passUntil: async (seconds) => {
        time.now = Math.max(time.now, seconds);
      },
      hold: (wallet, balance) => chain.hold(wallet, balance),
      authorize: async (setup) => void (await chain.authorize(setup)),
      approve: async (wallet, amount, spender) =>
        void (await chain.approve(wallet, amount, spender === undefined ? {} : { spender })),
      revoke: async (mandate) => void (await chain.revoke(mandate)),
      outage: (isOn) => chain.outage(isOn ? 86_400 : 0),
      lag: (blocks) => chain.lag(blocks),
      loseLog: (level) => chain.injectFaults(`lose_${level}_log`),
      close,
    };
  });
}
