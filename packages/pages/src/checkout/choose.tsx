import type { ComponentChildren } from 'preact';
import { NetworkGlyph, TokenGlyph } from '../design/glyphs.tsx';
import { Chevron } from '../design/parts.tsx';
import type { Choosing, PageOption } from '../views/checkout.ts';
import { linkTo, type Page } from './context.ts';
import { Notices } from './notices.tsx';

/** A link to another step, which the script follows without loading the page again. */
export function StepLink(props: {
  page: Page;
  to: Choosing | null;
  class?: string;
  children: ComponentChildren;
}) {
  const { page, to, children } = props;
  const follow = (event: MouseEvent) => {
    // With a key it opens another tab.
    if (event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    page.go(to);
  };
  return (
    <a class={props.class} href={linkTo(page, to)} onClick={follow}>
      {children}
    </a>
  );
}

/** The options of one token, cheapest network first. */
type TokenOptions = [first: PageOption, ...others: PageOption[]];

function byToken(options: readonly PageOption[]): TokenOptions[] {
  const tokens = new Map<string, TokenOptions>();
  for (const option of options) {
    const known = tokens.get(option.token);
    if (known === undefined) tokens.set(option.token, [option]);
    else known.push(option);
  }
  return [...tokens.values()];
}

function Tokens({ page, tokens }: { page: Page; tokens: readonly TokenOptions[] }) {
  const { t } = page;
  return (
    <>
      <h1 tabIndex={-1}>{t('choose_heading')}</h1>
      <p class="quiet small">{t('choose_help')}</p>
      <Notices page={page} />
      {tokens.map(([first, ...others]) => (
        <StepLink key={first.token} page={page} to={{ token: first.token }} class="tap">
          <TokenGlyph token={first.token} />
          <span>
            <span class="ends">
              <b>{first.token}</b>
              {first.amount === null ? null : <bdi class="sum">{first.amount}</bdi>}
            </span>
            <span class="quiet small">
              {[first, ...others].map(({ networkName }) => networkName).join(' · ')}
            </span>
          </span>
          <Chevron />
        </StepLink>
      ))}
    </>
  );
}

function Networks({ page, options, isFirst }: { page: Page; options: TokenOptions; isFirst: boolean }) {
  const { t, isBusy, submit } = page;
  const [{ token, amount }] = options;
  return (
    <>
      <h1 tabIndex={-1}>{t('network_heading', { token })}</h1>
      <p class="quiet small">{t('network_help', { token })}</p>
      {amount === null ? null : (
        <p class="chip">
          <TokenGlyph token={token} />
          <bdi>{amount}</bdi>
        </p>
      )}
      <Notices page={page} />
      <form method="post" onSubmit={submit}>
        {options.map(({ value, network, networkName, hint }) => (
          <button key={value} class="tap" type="submit" name="option" value={value} disabled={isBusy}>
            <NetworkGlyph network={network} />
            <span>
              <b>{networkName}</b>
              <span class="quiet small">{t(`hint_${hint}`)}</span>
            </span>
            <Chevron />
          </button>
        ))}
      </form>
      {isFirst ? null : (
        <p class="center gap-top">
          <StepLink page={page} to={{ token: null }}>
            {t('back_to_tokens')}
          </StepLink>
        </p>
      )}
    </>
  );
}

/** Token, then network, one tap each. A store with one token shows its networks at once. */
export function Choose({ page }: { page: Page }) {
  const tokens = byToken(page.view.options);
  const wanted = page.choosing?.token;
  const chosen =
    tokens.find(([{ token }]) => token === wanted) ?? (tokens.length === 1 ? tokens[0] : undefined);
  if (chosen === undefined) return <Tokens page={page} tokens={tokens} />;
  return <Networks page={page} options={chosen} isFirst={tokens.length === 1} />;
}
