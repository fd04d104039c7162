import { Eleventy } from '@11ty/eleventy';
import type MarkdownIt from 'markdown-it';
import { addressesOf, type Document, documents, titleOf } from './documents.ts';
import { type ErrorCode, errorCodes } from './errors.ts';
import { eventAddresses, eventPages } from './event-types.ts';
import { type Heading, headingsOf, markdown } from './markdown.ts';
import { BASE, NAVIGATION, urlOf } from './navigation.ts';

/** Addresses of the site's own style sheet and scripts. */
export interface Assets {
  style: string;
  theme: string;
  script: string;
}

/** What the layout gets of a page, beside its content. */
interface PageData {
  name: string;
  source: string;
  title: string;
  headings: Heading[];
  /** The entry of the menu that stands for the page, where it has none. */
  within: string;
  permalink: string;
}

function dataOf({ name, source, text }: Document, parser: MarkdownIt): PageData {
  const title = titleOf(text);
  if (title === undefined) throw new Error(`${source} has no title`);
  const [within = name] = name.split('/', 1);
  return {
    name,
    source,
    title,
    headings: headingsOf(text, parser, source),
    within,
    permalink: `${name}.html`,
  };
}

interface Neighbour {
  title: string;
  url: string;
}

/** The pages before and after one in the menu; none for a page that is not in it. */
function besides(name: string): { before?: Neighbour | undefined; after?: Neighbour | undefined } {
  const all = NAVIGATION.flatMap(({ pages }) => pages);
  const at = all.findIndex((page) => page.name === name);
  if (at < 0) return {};
  const [before, after] = [all[at - 1], all[at + 1]].map(
    (page) => page && { title: page.title, url: urlOf(page.name) },
  );
  return { before, after };
}

const menu = () =>
  NAVIGATION.map(({ title, pages }) => ({
    title,
    pages: pages.map((page) => ({ ...page, url: urlOf(page.name) })),
  }));

/** Events are led to their pages everywhere, error codes on the page that lists them: elsewhere such words mean other things too. */
function termsOf(errors: readonly ErrorCode[]) {
  const events = eventAddresses();
  const codes = new Map(errors.map(({ code }) => [code, urlOf(`errors/${code}`)]));
  return (code: string, source: string) =>
    events.get(code) ?? (source === 'docs/errors.md' ? codes.get(code) : undefined);
}

const addressOf = (url: string) => urlOf(url.replace(/^\/|\.html$/g, '') || 'index');

/** All pages but those of error codes, which templates make. */
export const siteDocuments = (): Document[] => [...documents(), ...eventPages()];

/** All pages of the site: HTML by path on the service. */
export async function renderPages(assets: Assets): Promise<Map<string, string>> {
  const all = siteDocuments();
  const errors = errorCodes();
  const parser = markdown({ files: addressesOf(all), termIn: termsOf(errors) });
  const site = new Eleventy('packages/site/src/content', undefined, {
    quietMode: true,
    configPath: false,
    config: (config) => {
      config.setLibrary('md', parser);
      config.setIncludesDirectory('../layouts');
      config.addGlobalData('site', { ...assets, base: BASE, menu: menu() });
      config.addGlobalData('layout', 'page.njk');
      config.addGlobalData('errors', errors);
      for (const document of all) {
        // Code in the docs has braces: nothing in them is a template.
        const data = { ...dataOf(document, parser), ...besides(document.name), templateEngineOverride: 'md' };
        config.addTemplate(`${document.name}.md`, document.text, data);
      }
    },
  });
  const pages = await site.toJSON();
  return new Map(pages.map(({ url, content }) => [addressOf(url), content]));
}
