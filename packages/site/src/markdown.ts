import path from 'node:path';
import hljs from 'highlight.js/lib/core';
import bash from 'highlight.js/lib/languages/bash';
import javascript from 'highlight.js/lib/languages/javascript';
import json from 'highlight.js/lib/languages/json';
import python from 'highlight.js/lib/languages/python';
import sql from 'highlight.js/lib/languages/sql';
import typescript from 'highlight.js/lib/languages/typescript';
import MarkdownIt from 'markdown-it';
import Token from 'markdown-it/lib/token.mjs';
import { escapeHtml } from './html.ts';
import { drawStates } from './state-drawing.ts';

for (const [name, language] of Object.entries({ bash, javascript, json, python, sql, typescript })) {
  hljs.registerLanguage(name, language);
}

/** What the generator hands to the parser with a page. */
export interface PageData {
  /** The file of the repository. */
  source: string;
}

/** As the forge makes anchors of headings, so that links work there and here. */
const anchorOf = (heading: string) =>
  heading
    .toLowerCase()
    .replace(/[^\p{L}\p{N}\s_-]/gu, '')
    .trim()
    .replaceAll(/\s/g, '-');

const plain = (inline: Token | undefined) => (inline?.children ?? []).map(({ content }) => content).join('');

/** Gives each heading an anchor of its own on the page. */
function anchorHeadings(tokens: readonly Token[]): void {
  const seen = new Map<string, number>();
  tokens.forEach((token, at) => {
    if (token.type !== 'heading_open') return;
    const anchor = anchorOf(plain(tokens[at + 1]));
    const times = seen.get(anchor) ?? 0;
    seen.set(anchor, times + 1);
    token.attrSet('id', times === 0 ? anchor : `${anchor}-${times}`);
  });
}

export interface Heading {
  id: string;
  text: string;
}

/** The headings of the second level, which a list of contents names. */
export function headingsOf(text: string, parser: MarkdownIt, source: string): Heading[] {
  const tokens = parser.parse(text, { source });
  return tokens.flatMap((token, at) =>
    token.type === 'heading_open' && token.tag === 'h2'
      ? [{ id: token.attrGet('id') ?? '', text: plain(tokens[at + 1]) }]
      : [],
  );
}

/** Where a link of a file leads on the site. @throws when there is no such page */
export function resolveLink(href: string, source: string, addresses: ReadonlyMap<string, string>): string {
  if (/^(https?:|mailto:|#|\/)/.test(href)) return href;
  const [target = '', anchor] = href.split('#', 2);
  const file = path.posix.join(path.posix.dirname(source), target);
  const address = addresses.get(file);
  if (address === undefined) throw new Error(`${source} links to ${href}, which the site does not have`);
  return anchor === undefined ? address : `${address}#${anchor}`;
}

/** Code can be wider than the page: the keyboard scrolls it as well. */
function codeOf(text: string, language: string): string {
  const code = hljs.getLanguage(language) ? hljs.highlight(text, { language }).value : escapeHtml(text);
  return `<pre tabindex="0"><code>${code}</code></pre>\n`;
}

/** The comment before a drawing. */
const STATES_OF = /^<!-- states: ([a-z ]+) -->/;

const languageIn = (info: string) => info.trim().split(/\s/, 1)[0] ?? '';

/** Whatever the parser has to know of the site. */
interface Names {
  /** Addresses by file of the repository. */
  files: ReadonlyMap<string, string>;
  /** The address of what has a page of its own, by the code that names it in a file. */
  termIn: (code: string, source: string) => string | undefined;
}

/** Leads links to their pages, and names in code to what explains them. */
function linkedInline(tokens: readonly Token[], source: string, { files, termIn }: Names): Token[] {
  let depth = 0;
  return tokens.flatMap((token) => {
    if (token.type === 'link_close') depth -= 1;
    if (token.type === 'link_open') {
      depth += 1;
      token.attrSet('href', resolveLink(token.attrGet('href') ?? '', source, files));
    }
    const address = token.type === 'code_inline' && depth === 0 ? termIn(token.content, source) : undefined;
    if (address === undefined) return [token];
    const open = new Token('link_open', 'a', 1);
    open.attrSet('href', address);
    return [open, token, new Token('link_close', 'a', -1)];
  });
}

/** The parser of the docs. */
export function markdown(names: Names): MarkdownIt {
  // HTML, for the comments that mark drawings.
  const parser = new MarkdownIt({ html: true });
  const { rules } = parser.renderer;
  parser.core.ruler.push('anchors', ({ tokens }) => anchorHeadings(tokens));
  parser.core.ruler.push('links', ({ tokens, env }) => {
    const { source } = env as PageData;
    tokens.forEach((token, at) => {
      if (token.type !== 'inline' || tokens[at - 1]?.type === 'heading_open') return;
      token.children = linkedInline(token.children ?? [], source, names);
    });
  });
  rules.fence = (tokens, at) => {
    const { content = '', info = '' } = tokens[at] ?? {};
    const language = languageIn(info);
    if (language !== 'mermaid') return codeOf(content, language);
    const [, what] = STATES_OF.exec(tokens[at - 1]?.content ?? '') ?? [];
    if (what === undefined) throw new Error('a drawing stands after the comment that names what it draws');
    return drawStates(content, what, `states-${at}`);
  };
  rules.html_block = (tokens, at) => {
    const { content = '' } = tokens[at] ?? {};
    if (!/^<!--[\s\S]*-->\s*$/.test(content))
      throw new Error(`the docs have no HTML but comments: ${content}`);
    return '';
  };
  rules.html_inline = (tokens, at) => {
    throw new Error(`the docs have no HTML: ${tokens[at]?.content}`);
  };
  rules.table_open = () => '<div class="table" tabindex="0"><table>\n';
  rules.table_close = () => '</table></div>\n';
  return parser;
}
