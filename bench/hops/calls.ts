/** Which function calls which, by the types of the sources. */
import ts from 'typescript';

/** A function with a body, in one of our files. */
export type OurFunction = ts.FunctionLikeDeclaration;

export interface CallSite {
  /** The function with a name that the call is in: those without names are parts of it. `undefined` for modules. */
  readonly caller: OurFunction | undefined;
  readonly node: ts.Expression;
  /** What may be called there. More than one where an interface or a callback is called: only V8 knows which. */
  callees(): readonly OurFunction[];
}

export function callSites(program: ts.Program, isOurs: (file: ts.SourceFile) => boolean): readonly CallSite[] {
  const checker = program.getTypeChecker();
  const files = program.getSourceFiles().filter(isOurs);
  /** What is given to a property of that name anywhere: of literals, of classes, by assignments. */
  const valuesByName = new Map<string, ts.Node[]>();
  /** Where a function is called by its own name: for what is given to its parameters. */
  const callsOf = new Map<OurFunction, (ts.CallExpression | ts.NewExpression)[]>();
  const calls: (ts.CallExpression | ts.NewExpression)[] = [];
  const reads: ts.PropertyAccessExpression[] = [];

  for (const file of files) visit(file);
  for (const call of calls) {
    const callee = declaredCallee(call);
    if (callee) add(callsOf, callee, call);
  }
  return [
    ...calls.map((node) => ({ caller: namedOwner(node), node, callees: () => [...calleesOf(node, new Set())] })),
    ...reads.map((node) => ({ caller: namedOwner(node), node, callees: () => gettersOf(node) })),
  ];

  function visit(node: ts.Node): void {
    if (ts.isCallExpression(node) || ts.isNewExpression(node)) calls.push(node);
    if (ts.isPropertyAccessExpression(node) && !(ts.isCallExpression(node.parent) && node.parent.expression === node))
      reads.push(node);
    const isProperty = ts.isPropertyAssignment(node) || ts.isPropertyDeclaration(node);
    if (isProperty && node.initializer) add(valuesByName, node.name.getText(), node.initializer);
    if (ts.isShorthandPropertyAssignment(node)) add(valuesByName, node.name.getText(), node.name);
    if (ts.isMethodDeclaration(node) || ts.isGetAccessor(node)) add(valuesByName, node.name.getText(), node);
    const isAssignment = ts.isBinaryExpression(node) && node.operatorToken.kind === ts.SyntaxKind.EqualsToken;
    if (isAssignment && ts.isPropertyAccessExpression(node.left)) {
      add(valuesByName, node.left.name.getText(), node.right);
    }
    ts.forEachChild(node, visit);
  }

  function calleesOf(call: ts.CallExpression | ts.NewExpression, looked: Set<ts.Node>): Iterable<OurFunction> {
    const declared = declaredCallee(call);
    if (declared) return [declared];
    const declaration = checker.getResolvedSignature(call)?.declaration;
    // Of the language, of Node or of third parties.
    if (declaration && !isOurs(declaration.getSourceFile()) && !ts.isFunctionTypeNode(declaration)) return [];
    return functionsOf(call.expression, looked);
  }

  function declaredCallee(call: ts.CallExpression | ts.NewExpression): OurFunction | undefined {
    const declaration = checker.getResolvedSignature(call)?.declaration;
    if (declaration === undefined) return undefined;
    const own = ourFunction(declaration);
    if (own) return own;
    // One of several signatures of the same function.
    const symbol = checker.getSymbolAtLocation(nameOfCallee(call.expression));
    return symbol && ts.isFunctionDeclaration(declaration) ? bodyOf(original(symbol)) : undefined;
  }

  function gettersOf(read: ts.PropertyAccessExpression): readonly OurFunction[] {
    const symbol = checker.getSymbolAtLocation(read.name);
    const declarations = symbol?.declarations ?? [];
    const own = declarations.filter(ts.isGetAccessor).filter((getter) => ourFunction(getter));
    if (own.length > 0) return own;
    // By an interface of ours, whichever object is behind it.
    if (!declarations.some((declaration) => ts.isPropertySignature(declaration) && isOurs(declaration.getSourceFile())))
      return [];
    const receiver = checker.getTypeAtLocation(read.expression);
    const named = valuesByName.get(read.name.text)?.filter(ts.isGetAccessor) ?? [];
    return named.filter((getter) => {
      return checker.isTypeAssignableTo(checker.getTypeAtLocation(getter.parent), receiver);
    });
  }

  /** The functions that the expression may be when it is called. What was looked at is not looked at again. */
  function functionsOf(node: ts.Node, looked: Set<ts.Node>): Set<OurFunction> {
    const found = new Set<OurFunction>();
    const addAll = (nodes: Iterable<ts.Node>): void => {
      for (const other of nodes) for (const fn of functionsOf(other, looked)) found.add(fn);
    };
    if (looked.has(node)) return found;
    looked.add(node);
    const own = ourFunction(node);
    if (own) return found.add(own);
    if (ts.isParenthesizedExpression(node) || ts.isAsExpression(node) || ts.isNonNullExpression(node)) {
      addAll([node.expression]);
    } else if (ts.isConditionalExpression(node)) {
      addAll([node.whenTrue, node.whenFalse]);
    } else if (ts.isBinaryExpression(node)) {
      addAll([node.left, node.right]);
    } else if (ts.isCallExpression(node)) {
      // What it returns.
      for (const callee of calleesOf(node, looked)) addAll(returnedBy(callee));
    } else if (ts.isIdentifier(node) || ts.isPropertyAccessExpression(node)) {
      addAll(valuesOf(node));
    }
    return found;
  }

  function valuesOf(node: ts.Identifier | ts.PropertyAccessExpression): readonly ts.Node[] {
    const name = ts.isIdentifier(node) ? node : node.name;
    const at = checker.getSymbolAtLocation(name);
    const shorthand = ts.isShorthandPropertyAssignment(node.parent)
      ? checker.getShorthandAssignmentValueSymbol(node.parent)
      : undefined;
    const symbol = shorthand ?? at;
    if (symbol === undefined) return [];
    const declaration = original(symbol).declarations?.find((one) => isOurs(one.getSourceFile()));
    if (declaration === undefined) return [];
    const own = bodyOf(original(symbol));
    if (own) return [own];
    if (ts.isVariableDeclaration(declaration)) return declaration.initializer ? [declaration.initializer] : [];
    if (ts.isParameter(declaration)) return given(declaration);
    if (ts.isBindingElement(declaration)) {
      const property = declaration.propertyName ?? declaration.name;
      return compatible(node, checker.getTypeAtLocation(declaration.parent), valuesByName.get(property.getText()));
    }
    const receiver = ts.isPropertyAccessExpression(node) ? checker.getTypeAtLocation(node.expression) : undefined;
    return compatible(node, receiver, valuesByName.get(name.getText()));
  }

  /** Of the same name, those that fit: to the place, and by what they are properties of. */
  function compatible(
    node: ts.Node,
    receiver: ts.Type | undefined,
    values: readonly ts.Node[] = [],
  ): readonly ts.Node[] {
    const wanted = checker.getNonNullableType(checker.getTypeAtLocation(node));
    const others = values.filter((value) => value !== node);
    const fitting = others.filter((value) => checker.isTypeAssignableTo(checker.getTypeAtLocation(value), wanted));
    const candidates = fitting.length > 0 ? fitting : others;
    if (receiver === undefined) return candidates;
    const ofFitting = candidates.filter((value) => {
      const container = containerOf(value);
      return container && checker.isTypeAssignableTo(checker.getTypeAtLocation(container), receiver);
    });
    return ofFitting.length > 0 ? ofFitting : candidates;
  }

  /** What is given to a parameter by those who call its function by name. */
  function given(parameter: ts.ParameterDeclaration): readonly ts.Node[] {
    const owner = ourFunction(parameter.parent);
    if (owner === undefined) return [];
    const index = owner.parameters.indexOf(parameter);
    const values = (callsOf.get(owner) ?? []).flatMap((call) => call.arguments?.[index] ?? []);
    return parameter.initializer ? [...values, parameter.initializer] : values;
  }

  function original(symbol: ts.Symbol): ts.Symbol {
    return symbol.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(symbol) : symbol;
  }

  function bodyOf(symbol: ts.Symbol): OurFunction | undefined {
    for (const declaration of symbol.declarations ?? []) {
      const own = ourFunction(declaration);
      if (own) return own;
    }
    return undefined;
  }

  function ourFunction(node: ts.Node): OurFunction | undefined {
    return ts.isFunctionLike(node) && 'body' in node && node.body && isOurs(node.getSourceFile())
      ? (node as OurFunction)
      : undefined;
  }
}

/** The literal or the class that the value is of. */
function containerOf(value: ts.Node): ts.Node | undefined {
  const property = ts.isMethodDeclaration(value) || ts.isGetAccessor(value) ? value : value.parent;
  const isMember = ts.isObjectLiteralExpression(property.parent) || ts.isClassLike(property.parent);
  return isMember ? property.parent : undefined;
}

function nameOfCallee(node: ts.Expression): ts.Node {
  return ts.isPropertyAccessExpression(node) ? node.name : node;
}

function returnedBy(fn: OurFunction): readonly ts.Node[] {
  if (fn.body === undefined) return [];
  if (!ts.isBlock(fn.body)) return [fn.body];
  const returned: ts.Node[] = [];
  const visit = (node: ts.Node): void => {
    if (ts.isReturnStatement(node) && node.expression) returned.push(node.expression);
    else if (!ts.isFunctionLike(node)) ts.forEachChild(node, visit);
  };
  visit(fn.body);
  return returned;
}

/** The nearest function with a name around the node. */
function namedOwner(node: ts.Node): OurFunction | undefined {
  for (let outer = node.parent; outer !== undefined; outer = outer.parent) {
    if (ts.isFunctionLike(outer) && 'body' in outer && nameOf(outer as OurFunction)) return outer as OurFunction;
  }
  return undefined;
}

/** Of its own, or of the variable or property that it is the value of. */
export function nameOf(fn: OurFunction): string | undefined {
  if (ts.isConstructorDeclaration(fn)) return `new ${fn.parent.name?.text ?? 'class'}`;
  if (fn.name) return fn.name.getText();
  const { parent } = fn;
  const isValue =
    ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) || ts.isPropertyDeclaration(parent);
  return isValue ? parent.name.getText() : undefined;
}

function add<K, V>(lists: Map<K, V[]>, key: K, value: V): void {
  const list = lists.get(key);
  if (list) list.push(value);
  else lists.set(key, [value]);
}
