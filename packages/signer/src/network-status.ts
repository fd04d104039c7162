import type { TopUpRules } from './admit.ts';
import type { Keys } from './keys.ts';
import type { Policy } from './policy.ts';
import type { NetworkStatus } from './protocol.ts';

/**
 * What the status says of each network.
 *
 * @param leftOf what is left of a day's top-ups
 */
export function networksOf(
  { erc20, trc20, spl }: Policy,
  keys: Keys,
  leftOf: (rules: TopUpRules) => bigint,
): NetworkStatus[] {
  const topUps = (rules: TopUpRules) => ({
    gasTopUp: String(rules.gasTopUp),
    gasTopUpsLeft: String(leftOf(rules)),
  });
  const { collector } = erc20;
  const chainId = Number(erc20.chainId);
  return [
    { network: 'erc20', chainId, collector, ...topUps({ ...erc20, network: 'erc20' }) },
    ...(trc20 === null
      ? []
      : [
          {
            network: 'trc20',
            genesis: trc20.genesis,
            collector: trc20.collector,
            ...topUps({ ...trc20, network: 'trc20' }),
          } as const,
        ]),
    ...(spl === null
      ? []
      : [
          {
            network: 'spl',
            genesis: spl.genesis,
            feePayer: keys.spl.hot(0).address,
            delegate: spl.charges === null ? null : keys.spl.delegate().address,
            chargeAtMost: spl.charges === null ? null : String(spl.charges.perTransfer),
          } as const,
        ]),
  ];
}
