export { formOf } from './form.ts';
export { htmlAnswer, pageHeaders, seeOther } from './html.ts';
export { isLocal, type PageAnswer, type PageRequest, type PublicPage } from './page.ts';
export { type PluginFile, readPluginFile, uncompressed } from './plugin-file.ts';
