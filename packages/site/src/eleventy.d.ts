/** The part of Eleventy's interface that we use: the package has no types. */
declare module '@11ty/eleventy' {
  import type MarkdownIt from 'markdown-it';

  export interface UserConfig {
    setLibrary(extension: 'md', library: MarkdownIt): void;
    setIncludesDirectory(folder: string): void;
    addGlobalData(name: string, data: unknown): void;
    addTemplate(virtualPath: string, content: string, data: Record<string, unknown>): void;
  }

  export interface Options {
    quietMode: boolean;
    configPath: false;
    config: (config: UserConfig) => void;
  }

  export class Eleventy {
    constructor(input: string, output: string | undefined, options: Options);
    toJSON(): Promise<{ url: string; content: string }[]>;
  }
}
