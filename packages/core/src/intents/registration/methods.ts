/**
 * Methods of classes as handlers. A decorator runs when the class is defined, but there is no object to call the
 * method on until the class is constructed; so a declared method becomes a handler with each construction.
 */
import { RegistrationError } from '../../errors.js';
import type { Awaitable } from '../../seams/awaitable.js';
import { functionName } from '../../values/ids.js';
import type { Title } from './options.js';

type Method = (this: unknown, kwargs: never) => Awaitable<unknown>;
type NamedClass = object & { readonly name: unknown };

/** The used parts of TC39's decorator context. */
export type MethodContext = Pick<
  ClassMethodDecoratorContext,
  'kind' | 'name' | 'static' | 'private' | 'addInitializer' | 'access'
>;

/** A method as its decorator sees it: there is a function, but no object yet. */
interface DecoratedMethod {
  readonly title: Title;
  readonly fn: object;
  readonly context: MethodContext;
}

interface DeclaredMethod {
  /** Calls the method on its object, with overrides of subclasses. */
  readonly fn: (kwargs: never) => Awaitable<unknown>;
  readonly className: string;
  readonly methodName: string;
}

export interface MethodDeclarations {
  /** Remembers the method; `register` is called for each construction of its class and returns the id. */
  declare(method: DecoratedMethod, register: (method: DeclaredMethod) => string): void;
  /** Throws if a class was never constructed, or if several objects would share one id. */
  verify(): void;
}

export function methodDeclarations(): MethodDeclarations {
  const declarations: { title: Title; methodName: string; ids: string[] }[] = [];
  // Stacked decorators of one method must share one function: otherwise, it would be called twice for one cause.
  const boundMethods = new WeakMap<object, Map<unknown, DeclaredMethod['fn']>>();

  const bind = (instance: object, { fn: method, context }: DecoratedMethod): DeclaredMethod['fn'] => {
    const ofInstance = boundMethods.get(instance) ?? new Map<unknown, DeclaredMethod['fn']>();
    boundMethods.set(instance, ofInstance);
    // A private method is not overridden by its namesake of a subclass: an object has both.
    const key = context.private ? method : context.name;
    const known = ofInstance.get(key);
    if (known !== undefined) return known;
    const fn: DeclaredMethod['fn'] = (kwargs) => (context.access.get(instance) as Method).call(instance, kwargs);
    ofInstance.set(key, fn);
    return fn;
  };

  return {
    declare(method, register) {
      const { title, context } = method;
      // Ids are stored in names of annotations, which do not permit the hash of private methods.
      const methodName = String(context.name).replace(/^#/, '');
      const declaration = { title, methodName, ids: [] as string[] };
      declarations.push(declaration);
      context.addInitializer(function (this: unknown) {
        const instance = this as object;
        const cls = context.static ? (instance as NamedClass) : (instance.constructor as NamedClass);
        const className = functionName(cls) ?? '';
        declaration.ids.push(register({ fn: bind(instance, method), className, methodName }));
      });
    },
    verify() {
      for (const { title, methodName, ids } of declarations) {
        if (ids.length === 0) {
          throw new RegistrationError(
            `${title}: method "${methodName}" is decorated, but its class is never constructed, so there is no object ` +
              'to call it on. Construct the class once before the operator starts, or make the method static.',
          );
        }
        const repeated = ids.find((id, index) => ids.indexOf(id) !== index);
        if (repeated !== undefined) {
          throw new RegistrationError(
            `${title}: the class of method "${methodName}" is constructed more than once, so several objects would share ` +
              `the id "${repeated}" and each other's progress. Construct it once, or use a subclass for each object.`,
          );
        }
      }
    },
  };
}
