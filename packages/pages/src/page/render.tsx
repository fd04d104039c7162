import type { PageLanguage } from '@florin/contract/checkout-page';
import { renderToString } from 'preact-render-to-string';
import ar from '../../locales/ar.json';
import en from '../../locales/en.json';
import es from '../../locales/es.json';
import type { Renderer, Words } from '../renderer.ts';
import { CheckoutPage } from './checkout-page.tsx';
import { titleOf } from './titles.ts';
import { translator } from './words.ts';

const CATALOGUES: Record<PageLanguage, Words> = { en, es, ar };
const nothing = () => {};

export const render: Renderer['render'] = (view, token) => {
  const words = CATALOGUES[view.language];
  const t = translator(words, view.language);
  const page = {
    view,
    token,
    t,
    since: 0,
    isLive: false,
    isChoosing: false,
    isBusy: false,
    choose: nothing,
    submit: nothing,
    say: nothing,
    onTampered: nothing,
  };
  return {
    title: titleOf(view, t),
    body: renderToString(<CheckoutPage page={page} />),
    data: { view, words, token },
  };
};

export const say: Renderer['say'] = (language, what) => {
  const t = translator(CATALOGUES[language], language);
  const body = renderToString(
    <section class="card">
      <h1>{t(`${what}_heading`)}</h1>
      <p class="quiet">{t(`${what}_text`)}</p>
    </section>,
  );
  return { title: t(`${what}_title`), body };
};
