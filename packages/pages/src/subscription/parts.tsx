import { translatorOf } from '../catalogues.ts';
import { Exact, Hidden, Note, RadioOption, type Row, Rows } from '../design/parts.tsx';
import type { Translate } from '../texts.ts';
import type { PageLanguage } from '../views/languages.ts';
import type { WalletOption } from '../views/payer-page.ts';
import type { PortalSubscription, Recurring, SubscribedItem } from '../views/subscription.ts';

export type T = Translate<'subscription'>;

export const titleOf = (title: string, { storeName }: { storeName: string }) => `${title} – ${storeName}`;

/** A price with how often it is due. */
export const recurringText = ({ price, interval }: Recurring, t: T) => t(`each_${interval}`, { price });

export const itemText = ({ product, quantity }: SubscribedItem, t: T) =>
  quantity === 1 ? product : t('item', { product, quantity });

/** A text of the catalogue that has values: each is isolated in it, and the whole reads as the page does. */
export function OwnText({ text }: { text: string }) {
  return <span>{text}</span>;
}

/** Names of products are the merchant's, in a language of its own. */
export function ItemText({ item, t }: { item: SubscribedItem; t: T }) {
  return <span dir="auto">{itemText(item, t)}</span>;
}

export function walletText(wallet: PortalSubscription['wallet'], t: T): string {
  if (wallet === null) return t('wallet_yourself');
  const { token, networkName: network, address } = wallet;
  // An address reads from left to right in every language.
  return `${t('option', { token, network })}, \u2066${address}\u2069`;
}

/** Problems that the same wallet solves by allowing more. */
const RENEWED: readonly PortalSubscription['problem'][] = [
  'wallet_allowance',
  'wallet_nothing',
  'wallet_other_delegate',
  'wallet_closed',
  'declined_insufficient_allowance',
  'declined_cap_exceeded',
];

/** What choosing a wallet is called, as the subscription stands. */
export function chooseText({ wallet, problem }: PortalSubscription, t: T): string {
  if (wallet === null) return t('replace_first');
  return t(RENEWED.includes(problem) ? 'renew_title' : 'replace_title');
}

/** What is wrong with the wallet, or its last charge. */
export function Problem({ own: { problem, wallet }, t }: { own: PortalSubscription; t: T }) {
  if (problem === null) return null;
  return <Note tone="warn">{t(problem, { token: wallet?.token ?? '' })}</Note>;
}

const REVOKING = { erc20: 'revoke_text', trc20: 'revoke_tron', spl: 'revoke_solana' } as const;

/** How the payer takes back in the wallet what it allows us. */
export function Revoking({
  own: { approval },
  language,
  t,
}: {
  own: PortalSubscription;
  language: PageLanguage;
  t: T;
}) {
  if (approval === null) return null;
  const { token, network, spender } = approval;
  const label = network === 'spl' ? 'terms_delegate' : 'terms_spender';
  const rows: Row[] = [[translatorOf('wallet', language)(label), <Exact key="spender" text={spender} />]];
  return (
    <details class="leave">
      <summary>{t('revoke_title')}</summary>
      <p class="small">{t(REVOKING[network], { token })}</p>
      <Rows rows={rows} />
    </details>
  );
}

/** A choice of token and network with the button of the sandbox's wallet, which gives a mandate by one click. */
export function WalletForm(props: {
  language: PageLanguage;
  options: readonly WalletOption[];
  /** The token and network that the payer uses already. */
  known?: Pick<WalletOption, 'token' | 'networkName'> | null;
  /** Path of the form, without the language. */
  action: string;
  fields?: Readonly<Record<string, string>>;
}) {
  const { language, options, known = null, action, fields = {} } = props;
  const onNetwork = options.filter(({ networkName }) => networkName === known?.networkName);
  const preset = onNetwork.find(({ token }) => token === known?.token) ?? onNetwork[0] ?? options[0];
  const t = translatorOf('subscription', language);
  return (
    <form method="post" action={`${action}?lang=${language}`}>
      <Hidden fields={fields} />
      <fieldset>
        <legend>{t('wallet_choose')}</legend>
        {options.map(({ value, token, networkName }) => (
          <RadioOption
            key={value}
            value={value}
            isChosen={value === preset?.value}
            title={t('option', { token, network: networkName })}
          />
        ))}
      </fieldset>
      <button type="submit">{t('wallet_simulated')}</button>
    </form>
  );
}
