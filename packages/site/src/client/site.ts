import MiniSearch, { type SearchResult } from 'minisearch';
import { SEARCH_OPTIONS, type Section } from './search-options.ts';

const SHOWN = 12;
const INDEX = '/docs/search.json';

function byId<T extends HTMLElement>(id: string, type: new () => T): T {
  const element = document.getElementById(id);
  if (!(element instanceof type)) throw new Error(`the page has no ${id}`);
  return element;
}

function chooseTheme(): void {
  const select = byId('theme', HTMLSelectElement);
  const root = document.documentElement;
  select.value = root.dataset.theme ?? '';
  byId('theme-choice', HTMLLabelElement).hidden = false;
  select.addEventListener('change', () => {
    if (select.value === '') delete root.dataset.theme;
    else root.dataset.theme = select.value;
    try {
      if (select.value === '') localStorage.removeItem('florin-docs-theme');
      else localStorage.setItem('florin-docs-theme', select.value);
    } catch {
      // Then it holds for this page alone.
    }
  });
}

async function loadIndex(): Promise<MiniSearch<Section>> {
  const answer = await fetch(INDEX);
  if (!answer.ok) throw new Error(`the index cannot be read (${answer.status})`);
  return MiniSearch.loadJSON<Section>(await answer.text(), SEARCH_OPTIONS);
}

function hit({ id, title, heading, excerpt }: SearchResult): HTMLLIElement {
  const link = document.createElement('a');
  link.href = String(id);
  const name = document.createElement('strong');
  name.textContent = heading === '' ? String(title) : `${title} › ${heading}`;
  const text = document.createElement('span');
  text.textContent = String(excerpt);
  link.append(name, text);
  const item = document.createElement('li');
  item.append(link);
  return item;
}

function offerSearch(): void {
  const box = byId('search', HTMLElement);
  const query = byId('query', HTMLInputElement);
  const found = byId('found', HTMLDivElement);
  const count = byId('count', HTMLParagraphElement);
  const results = byId('results', HTMLUListElement);
  const links = () => [...results.querySelectorAll('a')];
  let loading: Promise<MiniSearch<Section>> | undefined;
  const index = () => {
    loading ??= loadIndex().catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
    return loading;
  };
  const close = () => {
    found.hidden = true;
  };
  const show = async () => {
    const text = query.value.trim();
    if (text === '') return close();
    try {
      const hits = (await index()).search(text);
      // Typed on meanwhile: the newer text is shown by its own run.
      if (query.value.trim() !== text) return;
      results.replaceChildren(...hits.slice(0, SHOWN).map(hit));
      count.textContent = hits.length === 0 ? `Nothing found for “${text}”.` : `${hits.length} found`;
    } catch {
      count.textContent = 'The search cannot be loaded. Try again.';
    }
    found.hidden = false;
  };
  const move = (event: KeyboardEvent, step: number) => {
    event.preventDefault();
    const all: Element[] = [query, ...links()];
    const at = document.activeElement === null ? 0 : all.indexOf(document.activeElement);
    const next = all[Math.min(Math.max(at + step, 0), all.length - 1)];
    if (next instanceof HTMLElement) next.focus();
  };
  box.hidden = false;
  query.addEventListener('focus', () => void index().catch(() => undefined), { once: true });
  query.addEventListener('input', () => void show());
  box.addEventListener('keydown', (event) => {
    if (event.key === 'ArrowDown') move(event, 1);
    if (event.key === 'ArrowUp') move(event, -1);
    if (event.key === 'Enter' && document.activeElement === query) links()[0]?.click();
    if (event.key === 'Escape') {
      close();
      query.focus();
    }
  });
  box.addEventListener('focusout', ({ relatedTarget }) => {
    if (!(relatedTarget instanceof Node && box.contains(relatedTarget))) close();
  });
  document.addEventListener('keydown', (event) => {
    const isTyping = event.target instanceof HTMLElement && event.target.matches('input, select, textarea');
    if (event.key !== '/' || isTyping || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    query.focus();
  });
}

function offerCopies(): void {
  for (const block of document.querySelectorAll('main pre')) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'copy';
    button.textContent = 'Copy';
    button.addEventListener('click', () => {
      const text = block.querySelector('code')?.textContent ?? '';
      navigator.clipboard.writeText(text).then(
        () => {
          button.textContent = 'Copied';
        },
        () => {
          button.textContent = 'Not copied';
        },
      );
    });
    const frame = document.createElement('div');
    frame.className = 'code';
    block.replaceWith(frame);
    frame.append(block, button);
  }
}

/** The API reference was at the address of the site: its anchors are followed to where it is now. */
if (location.pathname === '/docs' && location.hash.startsWith('#tag/')) {
  location.replace(`/docs/api${location.hash}`);
}
chooseTheme();
offerSearch();
offerCopies();
