export { builtSite, type Site, type SiteFile } from './built-site.ts';
export { NAVIGATION, urlOf } from './navigation.ts';
