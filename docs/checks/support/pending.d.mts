export function pending(): { readonly missing: ReadonlySet<string>; readonly unfinished: ReadonlySet<string> };
