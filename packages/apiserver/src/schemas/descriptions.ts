/**
 * The texts that explain the built-in kinds and their fields, by the names of the table of types; the text of the type
 * itself has the empty name. There are many of them, and few clients ask: they are loaded when one does.
 */
export type Descriptions = Readonly<Record<string, Readonly<Record<string, string>>>>;

export async function loadDescriptions(): Promise<Descriptions> {
  const { default: texts } = await import('./descriptions.json', { with: { type: 'json' } });
  return texts as unknown as Descriptions;
}
