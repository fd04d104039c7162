export { formOf } from './form.ts';
export { htmlAnswer, pageHeaders, seeOther } from './html.ts';
export { acceptsGzip, CACHED_FOREVER, packedAnswer } from './packed-file.ts';
export { isLocal, type PageAnswer, type PageRequest, type PublicPage } from './page.ts';
export { type PluginFile, readPluginFile } from './plugin-file.ts';
