import { hydrate, type TargetedSubmitEvent } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import { translator } from '../texts.ts';
import { type CheckoutView, type Choosing, choosingOf } from '../views/checkout.ts';
import { CheckoutPage } from './checkout-page.tsx';
import { linkTo, type Page } from './context.ts';
import { follow, readState, sendForm } from './live.ts';
import { wordsOf } from './notices.tsx';
import type { PageData } from './page-data.ts';
import { titleOf } from './titles.ts';
import { useWallets } from './wallet/use-wallets.ts';

const RATE_MARGIN_MS = 500;
/** How often a paid page polls: more money may come, or a refund be sent. */
const PAID_POLL_MS = 10_000;

interface Shown {
  view: CheckoutView;
  since: number;
}

/** Said aloud: a new state, what it brings, a new amount. */
function announcementOf(before: CheckoutView, page: Page): string {
  const { view, t } = page;
  const isNew = before.state !== view.state;
  const known = new Set(before.notices.map(({ code }) => code));
  const notices = view.notices.filter(({ code }) => isNew || !known.has(code));
  const renewed = before.due !== null && view.due !== null && before.due.amount !== view.due.amount;
  return [
    ...(isNew ? [t(`title_${view.state}`, { price: view.price })] : []),
    ...notices.flatMap((notice) => wordsOf(notice, page)),
    ...(renewed && !isNew && notices.length === 0
      ? [t('rate_renewed', { amount: `${view.due?.amount} ${view.due?.token}` })]
      : []),
  ].join(' ');
}

/**
 * The payment as the server sees it. An event counts always, as the last one tells what is true; an answer counts only
 * if no event overtook it on its way.
 */
function useView({ view: first, token }: PageData) {
  const [shown, setShown] = useState<Shown>(() => ({ view: first, since: performance.now() }));
  const [isOffline, setOffline] = useState(false);
  const heard = useRef(0);
  const show = (view: CheckoutView) => setShown({ view, since: performance.now() });
  const offer = async (answer: Promise<CheckoutView>) => {
    const before = heard.current;
    const view = await answer;
    if (heard.current === before) show(view);
  };
  const { language, state, rateSecondsLeft, secondsLeft } = shown.view;
  const poll = () => offer(readState(token, language));
  useEffect(() => {
    if (state === 'paid') {
      const ask = () => void (document.hidden || poll().catch(() => {}));
      const timer = setInterval(ask, PAID_POLL_MS);
      return () => clearInterval(timer);
    }
    const onEvent = (view: CheckoutView) => {
      heard.current++;
      show(view);
    };
    return follow(token, language, { onEvent, poll, onOffline: setOffline });
  }, [state === 'paid']);
  useEffect(() => {
    // The moments at which the server says something else although nothing has happened.
    const never = Number.POSITIVE_INFINITY;
    const next = Math.min(rateSecondsLeft ?? never, secondsLeft ?? never);
    if (next === never) return;
    const timer = setTimeout(() => void poll().catch(() => {}), next * 1000 + RATE_MARGIN_MS);
    return () => clearTimeout(timer);
  }, [shown]);
  return { ...shown, offer, poll, isOffline };
}

/** Of the history's entry on which nothing was chosen yet. */
const FIRST_STEP = 'first';

/** The step of choosing, which the page's address names: Back and Forward of the browser move between them. */
function useSteps({ choosing: first, isAutoReturn }: PageData, view: CheckoutView) {
  const [choosing, setChoosing] = useState(first);
  useEffect(() => {
    // Back finds the first step here once a token is chosen. Loaded again, this address shows the payment as it stands.
    if (first === null && view.state === 'choose') history.replaceState(FIRST_STEP, '');
    const onMove = ({ state }: PopStateEvent) =>
      setChoosing(state === FIRST_STEP ? { token: null } : choosingOf(location.search));
    addEventListener('popstate', onMove);
    return () => removeEventListener('popstate', onMove);
  }, []);
  const isFirst = useRef(true);
  useEffect(() => {
    // What was tapped is gone: readers and keyboards go on at the heading of the new step.
    if (!isFirst.current) document.querySelector('h1')?.focus();
    isFirst.current = false;
  }, [choosing]);
  const go = (to: Choosing | null) => {
    if (to === null && choosing === null && view.state !== 'choose') return;
    history.pushState(null, '', linkTo({ view, isAutoReturn }, to));
    setChoosing(to);
  };
  return { choosing, go };
}

function App({ data }: { data: PageData }) {
  const { token, texts, testText, contactText } = data;
  const { view, since, offer, poll, isOffline } = useView(data);
  const [isLive, setLive] = useState(false);
  const { choosing, go } = useSteps(data, view);
  const [isBusy, setBusy] = useState(false);
  const [isTampered, setTampered] = useState(false);
  const [failure, setFailure] = useState('');
  const [said, say] = useState('');
  const before = useRef(view);
  const t = translator(texts, view.language);
  const onTampered = () => setTampered(true);
  const onFailure = (error: unknown) =>
    setFailure(t('panel_failed', { reason: error instanceof Error ? error.message : String(error) }));
  const wallets = useWallets({
    view,
    isChoosing: choosing !== null && view.canChoose,
    token,
    announce: say,
    onTampered,
    poll,
    onBegin: () => setFailure(''),
    onFailure,
  });
  const submit = async (event: TargetedSubmitEvent<HTMLFormElement>) => {
    event.preventDefault();
    const form = event.currentTarget;
    const fields: Record<string, string> = {};
    for (const [name, value] of new FormData(form, event.submitter))
      if (typeof value === 'string') fields[name] = value;
    setBusy(true);
    setFailure('');
    try {
      await offer(sendForm(form.getAttribute('action') ?? location.href, fields));
      go(null);
    } catch (error) {
      onFailure(error);
    } finally {
      setBusy(false);
    }
  };
  const page: Page = {
    view,
    token,
    testText,
    contactText,
    t,
    since,
    isLive,
    choosing,
    isAutoReturn: data.isAutoReturn,
    isBusy,
    go,
    submit: (event) => void submit(event),
    say,
    onTampered,
    wallets,
  };
  useEffect(() => setLive(true), []);
  useEffect(() => {
    document.title = titleOf(view, t);
    const announcement = announcementOf(before.current, page);
    if (announcement !== '') say(announcement);
    // Whoever stood on what is gone now goes on at the new heading, and not at the top of the page.
    const isNew = before.current.state !== view.state;
    before.current = view;
    if (isNew) setFailure('');
    if (isNew && document.activeElement === document.body) document.querySelector('h1')?.focus();
  }, [view]);
  const trouble = isOffline ? t('offline') : failure;
  return <CheckoutPage page={page} said={said} trouble={trouble} isTampered={isTampered} />;
}

const data: PageData = JSON.parse(document.getElementById('data')?.textContent ?? '');
const root = document.getElementById('page');
if (root !== null) hydrate(<App data={data} />, root);
