#include "schema/line.pb.h"
#include "shapes/shape.pb.h"

int main() {
  schema::Shape shape;
  shape.add_lines()->mutable_from()->set_x(1);
  return shape.lines_size() == 1 ? 0 : 1;
}
